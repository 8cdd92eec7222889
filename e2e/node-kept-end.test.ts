// A Node ends a detached run while it has no link, and is killed. What is on its disk is delivered by its next process: all of
// it, or, when the disk has lost some, a run that says so. An answer that was cut never looks whole.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, test } from 'node:test';
import { chat, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { RunEndInfo } from './harness/operator.ts';
import { resumeText } from './harness/resumed-chat.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };
const words = Array.from({ length: 100 }, (_, index) => `w${index}.`);

describe('a Node that is killed with the end of a run on its disk', { timeout: 240_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ proxied: true });
    at(scene.upstreams, 0).act({ kind: 'stream', chunks: words, paceMs: 8 });
  });
  after(() => scene?.world.close());
  beforeEach(async () => {
    await scene.edge.nodesReady(['n1']);
    at(scene.upstreams, 0).forget();
  });

  function onDisk<T>(ask: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(join(at(scene.nodes, 0).stateDir, 'history.db'));
    try {
      db.exec('PRAGMA busy_timeout = 2000');
      return ask(db);
    } finally {
      db.close();
    }
  }

  const keptRows = (table: string) =>
    onDisk((db) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n));

  /** Ends while the link is cut; then the Node is killed. */
  async function endsUnheard(): Promise<string> {
    const headers = { 'x-iop-on-disconnect': 'continue' };
    const asking = chat(scene.edge, { stream: true, headers });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 8);
    at(scene.proxies, 0).setMode('refuse');
    asking.hangUp();
    const node = at(scene.nodes, 0);
    await eventually('the end is on the disk of the Node', 10_000, () => keptRows('kept_ends') === 1);
    assert.equal(at(at(scene.upstreams, 0).requests, 0).finished, true);
    await node.program.kill();
    return String((await asking.head).headers['x-iop-run']);
  }

  async function comesBack(): Promise<void> {
    at(scene.proxies, 0).setMode('pass');
    at(scene.nodes, 0).start();
    await scene.edge.nodesReady(['n1']);
  }

  async function isShownAs(end: RunEndInfo, runId: string): Promise<void> {
    const shown = readStream((await resumeText(scene.edge, runId)).text);
    assert.equal(shown.done, end.kind === 'completed');
    if (end.kind === 'completed') return assert.equal(shown.content, words.join(''));
    assert.ok(words.join('').startsWith(shown.content));
    assert.equal(shown.error?.code, end.kind === 'failed' ? end.code : '');
  }

  const gap: RunEndInfo = { kind: 'failed', code: 'event.gap' };
  const rows: Record<string, { damage(db: DatabaseSync): void; end: RunEndInfo }> = {
    'and all that led to it: it is delivered whole': {
      damage() {},
      end: { kind: 'completed', finish: 'stop' },
    },
    'and nothing that led to it: the Edge records a gap': {
      damage: (db) => db.exec('DELETE FROM kept_parts'),
      end: gap,
    },
    'and a flipped bit in what led to it: the Edge records a gap': {
      damage: (db) =>
        db.exec(`UPDATE kept_parts SET bytes = unhex(replace(hex(bytes), hex('w60.'), hex('x60.')))`),
      end: gap,
    },
    'and a flipped bit in that end: the run is lost': {
      damage: (db) => db.exec('UPDATE kept_ends SET checksum = checksum - 1'),
      end: { kind: 'failed', code: 'node.lost' },
    },
  };
  for (const [what, { damage, end }] of Object.entries(rows)) {
    for (const edge of what.includes('bit') ? ['lives'] : ['lives', 'is killed too']) {
      test(`${what} (the Edge ${edge})`, limit, async () => {
        const runId = await endsUnheard();
        onDisk(damage);
        if (edge !== 'lives') {
          await scene.edge.program.kill();
          await scene.edge.start();
        }
        await comesBack();
        const record = await scene.edge.runEnded(runId, 10_000);
        assert.deepEqual({ end: record.end, attempts: record.attempts }, { end, attempts: 1 });
        await isShownAs(end, runId);
        assert.equal(at(scene.upstreams, 0).requests.length, 1, 'executed once');
        // of an end that it cannot read it keeps the rest until it writes again
        if (what.includes('that end')) return;
        await eventually(
          'the Node forgets it',
          5_000,
          () => keptRows('kept_ends') + keptRows('kept_parts') === 0,
        );
      });
    }
  }
});
