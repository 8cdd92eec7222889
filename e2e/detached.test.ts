// Runs that nobody owns: started at one place, watched at two others, cancelled at a third, found again by everybody
// who may, and whole whatever dies in between.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './harness/eventually.ts';
import { call } from './harness/http.ts';
import { type IopEnded, iopJson, iop as iopOn, startIop } from './harness/iop.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import { sseTranscript, transcript, watchLines } from './harness/watched.ts';

const limit = { timeout: 90_000 };
const endless = '<mock>{"size":"4MiB","chunks":20000,"pace_ms":20}</mock>';

describe('a detached run', { timeout: 400_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  }, limit);
  after(() => scene?.world.close());

  const iop = (...args: string[]): Promise<IopEnded> => iopOn(scene.edge, ...args);
  const watching = (runId: string, ...args: string[]) =>
    startIop(['watch', runId, '--json', '--socket', scene.edge.socketPath, ...args]);

  async function detach(prompt: string, ...args: string[]): Promise<string> {
    const { code, out, err } = await iop('run', '--detach', '-a', 'mock', '-t', 'echo', ...args, prompt);
    assert.equal(code, 0, err);
    assert.match(out, /^run_[0-9a-z]{26}\n$/);
    return out.trim();
  }

  async function secretOf(role: string): Promise<string> {
    return (await iop('keys', 'create', role, '--role', role)).out.trim();
  }

  test(
    'is watched from two places at once in the same order, and cancelled from a third',
    limit,
    async () => {
      const runId = await detach(endless);
      const watch = watching(runId);
      const key = await secretOf('operator');
      const sse = call({
        url: `${scene.edge.url}/api/v1/runs/${runId}/events`,
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      });
      await eventually('both see content', 20_000, () => {
        return watchLines(watch).length > 20 && sseTranscript(sse.text).length > 20;
      });
      assert.match(
        (await iop('runs', '--state', 'running')).out,
        new RegExp(`^${runId} +running .* detached`, 'm'),
      );
      assert.match((await iop('cancel', runId)).out, /is (stopping|cancelled)/);
      const { code, err } = await watch.ended;
      assert.equal(code, 75, err);
      const { text } = await sse.answer;
      const lines = watchLines(watch);
      assert.deepEqual(sseTranscript(text), transcript(lines));
      assert.deepEqual(
        lines.map(({ pos }) => pos),
        lines.map((_line, index) => index + 1),
        'each pos once',
      );
      assert.match(text, /event: stop\ndata: \{[^\n]*\}\n\n$/);
      assert.deepEqual(lines.at(-1)?.end, { kind: 'cancelled', by: 'operator' });
      assert.deepEqual((await scene.edge.runEnded(runId)).end, { kind: 'cancelled', by: 'operator' });
    },
  );

  test('goes on when a watcher leaves, and is found whole by who comes later', limit, async () => {
    const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ');
    const runId = await detach(`<mock>${JSON.stringify({ text: words, pace_ms: 200 })}</mock>`);
    const watch = watching(runId);
    await eventually('it is seen', 20_000, () => watchLines(watch).length > 1);
    watch.child.kill('SIGINT');
    assert.equal((await watch.ended).code, 130);
    const shown = await iop('watch', runId);
    assert.deepEqual([shown.code, shown.out], [0, `${words}\n`]);
    const again = watching(runId);
    assert.equal((await again.ended).code, 0);
    const lines = watchLines(again);
    const rest = watching(runId, '--after', '3');
    await rest.ended;
    assert.deepEqual(transcript(watchLines(rest)), transcript(lines).slice(3));
    const none = watching(runId, '--after', String(lines.length));
    assert.equal((await none.ended).code, 0, 'at the end there is only the end');
    assert.deepEqual(
      watchLines(none).map(({ kind }) => kind),
      ['end'],
    );
    const beyond = await iop('watch', runId, '--after', String(lines.length + 1));
    assert.equal(beyond.code, 64);
    assert.match(beyond.err, /has ended at pos/);
  });

  test('is watched to its end across a killed Edge, each event once', limit, async () => {
    const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
    const runId = await detach(`<mock>${JSON.stringify({ text: words, pace_ms: 60 })}</mock>`);
    const watch = startIop(['watch', runId, '--json', '--socket', scene.edge.socketPath]);
    await eventually('it is seen', 20_000, () => watchLines(watch).length > 5);
    await scene.edge.program.kill();
    await sleep(500);
    await scene.edge.start();
    const { code, err } = await watch.ended;
    assert.equal(code, 0, err);
    assert.match(err, /trying again/);
    const seen = watchLines(watch);
    assert.deepEqual(
      seen.map(({ pos }) => pos),
      seen.map((_line, index) => index + 1),
      'each pos once',
    );
    const whole = watching(runId);
    await whole.ended;
    assert.deepEqual(transcript(seen), transcript(watchLines(whole)));
    assert.equal((await iop('watch', runId)).out, `${words}\n`);
  });

  test('says why it is where it is', limit, async () => {
    const runId = await detach('hello');
    await scene.edge.runEnded(runId);
    const { code, out } = await iop('why', runId);
    assert.equal(code, 0);
    assert.match(out, /^attempt 1 +n1 mock\/echo \(pos 1\)$/m);
    assert.match(out, /^ {2}of +n1 mock\/echo: chosen/m);
    assert.match(out, /^end +completed: stop$/m);
    interface Why {
      run: { runClass: string };
      attempts: { node: string; events: number }[];
    }
    const why = await iopJson<Why>(scene.edge, 'why', runId);
    assert.equal(why.run.runClass, 'detached');
    assert.equal(at(why.attempts, 0).node, 'n1');
    assert.ok(at(why.attempts, 0).events > 0);
  });

  test('is the same for the same idempotency key, and another prompt with it is refused', limit, async () => {
    const runId = await detach('once', '--idempotency-key', 'k1');
    assert.equal(await detach('once', '--idempotency-key', 'k1'), runId);
    const key = ['--idempotency-key', 'k1'];
    const { code, err } = await iop('run', '--detach', '-a', 'mock', '-t', 'echo', ...key, 'twice');
    assert.equal(code, 75);
    assert.match(err, /was used for another request/);
  });

  test('of somebody else looks as if it did not exist', limit, async () => {
    const runId = await detach('mine');
    const response = `resp_${runId.slice(4)}`;
    const stranger = await secretOf('caller');
    const found = await call({
      url: `${scene.edge.url}/v1/responses/${response}`,
      headers: { authorization: `Bearer ${stranger}` },
    }).answer;
    const unknown = await call({
      url: `${scene.edge.url}/v1/responses/resp_${'0'.repeat(26)}`,
      headers: { authorization: `Bearer ${stranger}` },
    }).answer;
    assert.deepEqual([found.status, unknown.status], [404, 404]);
    assert.equal(
      found.text.replaceAll(response, 'X'),
      unknown.text.replaceAll(`resp_${'0'.repeat(26)}`, 'X'),
    );
    const api = await call({
      url: `${scene.edge.url}/api/v1/runs/${runId}`,
      headers: { authorization: `Bearer ${stranger}` },
    }).answer;
    assert.equal(api.status, 403);
  });

  test('that nobody knows, and what is no run at all, are refused in words', limit, async () => {
    const unknown = `run_${'0'.repeat(26)}`;
    for (const command of ['watch', 'why', 'cancel', 'runs']) {
      const { code, err } = await iop(command, unknown);
      assert.deepEqual([command, code], [command, 64]);
      assert.match(err, /no run run_0+ is known here/);
      const wrong = await iop(command, 'yesterday');
      assert.deepEqual([command, wrong.code], [command, 64]);
      assert.match(wrong.err, /yesterday is no run id/);
    }
    assert.equal((await iop('watch', unknown, '--after', '-1')).code, 64);
    const detached = await iop('run', '--detach', '-a', 'mock', '-t', 'ecko', 'x');
    assert.equal(detached.code, 64);
    assert.match(detached.err, /ecko/);
  });
});
