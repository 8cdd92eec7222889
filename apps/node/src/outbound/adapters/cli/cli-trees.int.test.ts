// F13: what a cancel does to every kind of child, and that a run is over only when nothing of it lives (C5, C6).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { alive, type CliLab, createCliLab, eventually, failureOf, type Running } from './cli-fixture.ts';

const hasSetsid = existsSync('/usr/bin/setsid') && existsSync('/proc/self/stat');
const limit = { timeout: 30_000, ...(hasSetsid ? {} : { skip: 'needs /proc and setsid' }) };

/** Each of them says `up` and would live for 25 s. */
const trees: readonly { what: string; script: string; processes: number }[] = [
  { what: 'sleeps', script: 'echo up; sleep 25', processes: 2 },
  {
    what: 'ignores TERM',
    script: "trap '' TERM; echo up; for i in $(seq 250); do sleep 0.1; done",
    processes: 1,
  },
  { what: 'forks', script: 'sleep 25 & sleep 25 & (sleep 25 & sleep 25) & echo up; wait', processes: 5 },
  { what: 'starts a session of its own', script: 'setsid sleep 25 & echo up; wait', processes: 2 },
  {
    what: 'forks twice and loses its parents',
    script: '(setsid sh -c "sleep 25 & sleep 25 &" &) ; echo up; sleep 25',
    processes: 3,
  },
  { what: 'is hidden from hang-ups', script: 'nohup sleep 25 >/dev/null 2>&1 & echo up; wait', processes: 2 },
  {
    what: 'ignores TERM in a session of its own, with an empty environment',
    script: `env -i setsid sh -c "trap '' TERM; for i in 1 2 3 4 5; do /bin/sleep 5; done" & echo up; wait`,
    processes: 3,
  },
  {
    what: 'loses its parents in the group, with an empty environment',
    script: '(env -i sh -c "/bin/sleep 25 & /bin/sleep 25 &" &); sleep 0.2; echo up; sleep 25',
    processes: 4,
  },
  {
    what: 'closes its output in a session of its own',
    script: 'setsid sh -c "exec >&- 2>&- <&-; sleep 25" & sleep 0.2; echo up; wait',
    processes: 2,
  },
];

async function upAndRunning(lab: CliLab, script: string, processes: number): Promise<Running> {
  const running = lab.start(script, { grace: '300ms' });
  await running.sink.until((sink) => sink.text().includes('up'), 10_000);
  await eventually(() => lab.descendants().length >= processes, `${processes} processes live`);
  return running;
}

function assertNothingLeft(lab: CliLab): void {
  assert.deepEqual(alive(lab.marks), []);
  assert.deepEqual(lab.ledger.left(), []);
  assert.deepEqual(lab.ledger.live, []);
}

describe('F13: a cancel of a child', () => {
  for (const { what, script, processes } of trees) {
    it(`that ${what} ends its whole tree`, limit, async (test) => {
      const lab = createCliLab(test);
      const { end, stop, sink } = await upAndRunning(lab, script, processes);
      const tree = lab.descendants();
      const startedAt = performance.now();
      stop.abort('caller');
      assert.deepEqual(await end, { kind: 'cancelled', by: 'caller' });
      assert.ok(performance.now() - startedAt < 3_000, `took ${performance.now() - startedAt} ms`);
      assertNothingLeft(lab);
      assert.deepEqual(tree.filter(lab.isStillThere), []);
      assert.equal(sink.late.length, 0);
    });
  }

  it('gives it TERM at once, and the grace to end by itself', limit, async (test) => {
    const lab = createCliLab(test);
    const script = `trap 'date +%s%N > term; sleep 0.2; echo bye > bye; exit 0' TERM; echo up; for i in $(seq 250); do sleep 0.1; done`;
    const { end, stop } = await upAndRunning(lab, script, 1);
    const stoppedAt = Date.now();
    stop.abort('operator');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'operator' });
    assert.equal(existsSync(join(lab.directory, 'bye')), true, 'it was killed in its grace');
    const termAt = Number(readFileSync(join(lab.directory, 'term'), 'utf8')) / 1e6;
    assert.ok(termAt - stoppedAt < 250, `TERM came after ${termAt - stoppedAt} ms`);
    assertNothingLeft(lab);
  });

  it('that comes twice has one answer', limit, async (test) => {
    const lab = createCliLab(test);
    const { end, stop } = await upAndRunning(lab, "trap '' TERM; echo up; sleep 25 & wait; wait", 2);
    stop.abort('caller');
    await sleep(50);
    stop.abort('operator');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'caller' });
    assertNothingLeft(lab);
  });

  it('that races its end gives one end or the other, and leaves nothing', {
    ...limit,
    timeout: 60_000,
  }, async (test) => {
    const lab = createCliLab(test);
    const kinds = new Set<string>();
    for (let delayMs = 0; delayMs < 24; delayMs++) {
      const { end, stop, sink } = lab.start('echo up; sleep 0.01');
      await sleep(delayMs);
      stop.abort('caller');
      const { kind } = await end;
      kinds.add(kind);
      assert.ok(kind === 'cancelled' || (kind === 'completed' && sink.text() === 'up\n'), kind);
      assert.equal(sink.late.length, 0);
    }
    assert.ok(kinds.has('cancelled'));
    assertNothingLeft(lab);
  });

  it('that comes at once leaves nothing', limit, async (test) => {
    const lab = createCliLab(test);
    const { end, stop } = lab.start('touch canary');
    stop.abort('deadline');
    const { kind } = await end;
    assert.equal(kind, 'cancelled');
    assertNothingLeft(lab);
  });
});

describe('C6: a run that completes', () => {
  for (const { what, script } of [
    { what: 'in the background', script: 'sleep 25 & echo up' },
    { what: 'in a session of its own', script: 'setsid sleep 25 >/dev/null 2>&1 & sleep 0.2; echo up' },
    {
      what: 'behind a double fork',
      script: '(setsid sh -c "sleep 25 >/dev/null 2>&1 &" &); sleep 0.2; echo up',
    },
  ]) {
    it(`takes with it what it left ${what}`, limit, async (test) => {
      const lab = createCliLab(test);
      const { sink, end } = await lab.run(script);
      assert.deepEqual(end, { kind: 'completed', finish: 'stop' });
      assert.equal(sink.text(), 'up\n');
      assertNothingLeft(lab);
    });
  }

  it('touches no process of another run', limit, async (test: TestContext) => {
    const lab = createCliLab(test);
    const other = await upAndRunning(lab, 'setsid sleep 25 & echo up; wait', 2);
    const before = alive(lab.marks).length;
    const { end } = await lab.run('setsid sleep 25 & sleep 0.1; echo up');
    assert.equal(end.kind, 'completed');
    assert.equal(alive(lab.marks).length, before);
    other.stop.abort('caller');
    await other.end;
    assertNothingLeft(lab);
  });
});

describe('F12: a child', () => {
  it('that closes its output and lives on is ended', limit, async (test) => {
    const lab = createCliLab(test);
    const startedAt = performance.now();
    const { end } = await lab.run('echo up; exec >&- 2>&-; exec sleep 25');
    assert.equal(failureOf(end).code, 'cli.lives-on');
    assert.ok(performance.now() - startedAt < 2_000);
    assertNothingLeft(lab);
  });
});
