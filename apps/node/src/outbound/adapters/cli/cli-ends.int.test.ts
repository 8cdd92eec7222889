// F12 and the table of failures of DESIGN.md: how a child ends, and what end the run has then.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { alive, createCliLab, failureOf } from './cli-fixture.ts';

const limit = { timeout: 30_000 };

/** From its own death to the end of the run; what of it remains may hold its pipes. */
const promptMs = 1_000;

describe('F12: a child that dies', () => {
  const deaths: readonly { what: string; script: string; code: string; words: RegExp }[] = [
    { what: 'by SIGKILL', script: 'echo up; kill -9 $$', code: 'cli.killed', words: /ended by SIGKILL/ },
    { what: 'by SIGSEGV', script: 'echo up; kill -SEGV $$', code: 'cli.killed', words: /ended by SIGSEGV/ },
    { what: 'with an exit code', script: 'echo up; exit 7', code: 'cli.exit', words: /exit code 7/ },
    { what: 'with 126', script: 'echo up; exec /dev/null', code: 'cli.exit', words: /exit code 126/ },
    { what: 'without a word', script: 'exit 0', code: 'cli.no-output', words: /put nothing out/ },
  ];
  for (const { what, script, code, words } of deaths) {
    for (const holder of ['', 'sleep 20 & ', '(setsid sleep 20 &) ; ']) {
      const and = holder === '' ? '' : `, while \`${holder.trim()}\` holds its pipes`;
      it(`${what} ends its run at once${and}`, limit, async (test) => {
        const lab = createCliLab(test);
        const startedAt = performance.now();
        const { end } = await lab.run(holder + script);
        const tookMs = performance.now() - startedAt;
        assert.equal(failureOf(end).code, code);
        assert.match(failureOf(end).message, words);
        assert.equal(failureOf(end).retryable, false);
        assert.ok(tookMs < promptMs, `took ${tookMs} ms`);
        assert.deepEqual(alive(lab.marks), []);
      });
    }
  }

  it('tells code and signal as details', limit, async (test) => {
    const lab = createCliLab(test);
    assert.deepEqual(failureOf((await lab.run('exit 7')).end).details, { exitCode: 7 });
    assert.deepEqual(failureOf((await lab.run('kill -9 $$')).end).details, { signal: 'SIGKILL' });
  });

  it('has what it said last in its failure, without colours', limit, async (test) => {
    const lab = createCliLab(test);
    const { end } = await lab.run(
      `i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done; printf '\\033[31mno key\\033[0m' >&2; exit 1`,
    );
    const { message } = failureOf(end);
    assert.match(message, /stderr ends with: …[\s\S]*line 2999\nno key$/);
    assert.ok(message.length < 2_300);
  });
});

describe('exit codes', () => {
  const exit_codes = { '3': 'length', '42': 'invalid', '53': 'exhausted', '4': 'content-filter' };

  it('mean what the profile says', limit, async (test) => {
    const lab = createCliLab(test);
    const endOf = async (code: number) => (await lab.run(`echo up; exit ${code}`, { exit_codes })).end;
    assert.deepEqual(await endOf(0), { kind: 'completed', finish: 'stop' });
    assert.deepEqual(await endOf(3), { kind: 'completed', finish: 'length' });
    assert.deepEqual(await endOf(4), { kind: 'completed', finish: 'content-filter' });
    assert.equal(failureOf(await endOf(42)).kind, 'invalid');
    assert.equal(failureOf(await endOf(53)).kind, 'exhausted');
    assert.equal(failureOf(await endOf(9)).kind, 'unavailable');
  });

  it('that mean an answer need one, unless the profile says otherwise', limit, async (test) => {
    const lab = createCliLab(test);
    assert.equal(failureOf((await lab.run('exit 3', { exit_codes })).end).code, 'cli.no-output');
    const { end } = await lab.run('exit 3', { exit_codes, allow_empty: true });
    assert.deepEqual(end, { kind: 'completed', finish: 'length' });
  });
});

describe('time-outs', () => {
  it('by progress end a program that says nothing', limit, async (test) => {
    const lab = createCliLab(test);
    const { end, sink } = await lab.run('echo up; sleep 20', { progress_timeout: '300ms' });
    assert.equal(failureOf(end).code, 'cli.stalled');
    assert.equal(failureOf(end).kind, 'timeout');
    assert.equal(sink.text(), 'up\n');
    assert.deepEqual(alive(lab.marks), []);
  });

  it('by progress leave one alone that goes on, also on stderr', limit, async (test) => {
    const lab = createCliLab(test);
    const script = 'for i in 1 2 3 4 5 6 7 8; do echo . >&2; sleep 0.1; done; echo done';
    const { end } = await lab.run(script, { progress_timeout: '400ms' });
    assert.equal(end.kind, 'completed');
  });

  it('by progress do not count the time that a caller takes (C8)', limit, async (test) => {
    const lab = createCliLab(test);
    const { end, sink } = lab.start(
      'head -c 400000 /dev/zero | tr "\\0" x',
      { progress_timeout: '200ms' },
      { window: 1_000 },
    );
    await sink.until(() => sink.refusals > 0, 5_000);
    await sleep(700);
    sink.grant(1_000_000);
    assert.equal((await end).kind, 'completed');
    assert.equal(sink.text().length, 400_000);
  });

  it('in total end a program that goes on and on', limit, async (test) => {
    const lab = createCliLab(test);
    const script = 'for i in $(seq 200); do echo .; sleep 0.1; done';
    const { end } = await lab.run(script, { total_timeout: '500ms' });
    assert.equal(failureOf(end).code, 'cli.timeout');
    assert.deepEqual(alive(lab.marks), []);
  });
});

describe('C9: what a run may hold', () => {
  it('a flood without a newline ends at the longest line', limit, async (test) => {
    const lab = createCliLab(test);
    const { end } = await lab.run('head -c 50000000 /dev/zero', {
      output: 'jsonl',
      field: 'text',
      max_line: '64KiB',
    });
    assert.equal(failureOf(end).code, 'cli.line-too-long');
    assert.deepEqual(alive(lab.marks), []);
  });

  it('a flood of text ends at the largest output', limit, async (test) => {
    const lab = createCliLab(test);
    const { end, sink } = await lab.run('head -c 50000000 /dev/zero | tr "\\0" x', { max_output: '1MiB' });
    assert.equal(failureOf(end).code, 'cli.output-too-large');
    assert.ok(sink.text().length <= 1024 * 1024);
  });

  it('a flood on stderr is read and forgotten', limit, async (test) => {
    const lab = createCliLab(test);
    const before = process.memoryUsage().rss;
    const { end } = await lab.run('head -c 500000000 /dev/zero >&2; echo done');
    assert.equal(end.kind, 'completed');
    // What was read stays until a collection, so not all of it counts as kept.
    assert.ok(process.memoryUsage().rss - before < 250_000_000);
  });
});

describe('nothing is started', () => {
  it('where the program is gone, and another Node may try (C11)', limit, async (test) => {
    const programs = ['/nonexistent/agent'];
    const lab = createCliLab(test, { allow: { programs } });
    const { end } = await lab.run('', { program: '/nonexistent/agent', args: [] });
    assert.equal(failureOf(end).code, 'cli.not-allowed');
    assert.equal(failureOf(end).retryable, true);
    assert.equal(lab.marks.length, 0);
  });

  it('and only what can be started is offered, with what keeps the rest', limit, async (test) => {
    const lab = createCliLab(test);
    const { signal } = new AbortController();
    assert.deepEqual(await lab.adapter.capabilities(signal), { healthy: false, detail: '', targets: [] });
    await lab.run('echo one');
    await lab.run('', { program: '/bin/cat', args: [] });
    const { healthy, detail, targets } = await lab.adapter.capabilities(signal);
    assert.equal(healthy, true);
    assert.match(detail, /^t1: .*\/bin\/cat is not allowed by node\.yaml/);
    const facts = [{ name: 'chat', holds: true, source: 'declared' }];
    assert.deepEqual(targets, [{ name: 't0', facts }]);
  });

  it('for a program that is not allowed, by whatever path it is named', limit, async (test) => {
    const lab = createCliLab(test);
    for (const program of ['/bin/cat', 'cat', '../bin/cat', '/bin/../bin/cat', 'bin/sh']) {
      const { end } = await lab.run('', { program, args: [] });
      assert.equal(failureOf(end).code, 'cli.not-allowed', program);
    }
    assert.equal(lab.marks.length, 0);
  });
});
