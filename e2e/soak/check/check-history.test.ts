// The checker itself is on trial: a history in which nothing is wrong passes, and each planted violation is found
// by the rule that is there for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEnd } from '@iop/domain';
import type { Ask, History, RunStory } from '../history/history.ts';
import { checkHistory } from './check-history.ts';
import { fault, goodHistory, logged } from './good-history.fixture.ts';

const failed = (code: string): RunEnd => ({
  kind: 'failed',
  failure: { kind: 'unavailable', code, message: code, details: {}, retryable: true },
});

/** A history that can be written to. */
type Open<T> = T extends (infer E)[] | readonly (infer E)[]
  ? Open<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Open<T[K]> }
    : T;

interface Planted {
  history: Open<History>;
  /** Detached; its first ask is a chat of two connections, its second a watcher. */
  run: Open<RunStory>;
  ask: Open<Ask>;
  watcher: Open<Ask>;
}

function open(): Planted {
  const history = goodHistory() as Open<History>;
  const [run] = history.runs;
  const [ask, watcher] = history.asks;
  assert.ok(run && ask && watcher);
  return { history, run, ask, watcher };
}

function endAs(run: Open<RunStory>, end: RunEnd): void {
  Object.assign(run.record, { end, state: end.kind });
  Object.assign(run.log.events.at(-1) ?? {}, { end });
  Object.assign(run.log, { content: '' });
}

test('a history in which nothing is wrong passes', () => {
  assert.deepEqual(checkHistory(goodHistory()), []);
});

const planted: Readonly<Record<string, readonly [rule: string, plant: (planted: Planted) => void]>> = {
  'few runs': ['enough was seen', ({ history }) => history.runs.splice(10)],
  'no kill': ['enough was seen', ({ history }) => history.faults.splice(0)],
  'an empty history': [
    'enough was seen',
    ({ history }) => Object.assign(history, { runs: [], asks: [], effects: [], faults: [] }),
  ],
  'a run without an end': [
    'one end, in the record',
    ({ run }) => Object.assign(run.record, { end: undefined, endedAtMs: undefined, state: 'running' }),
  ],
  'two ends in a log': [
    'one end, at the end of the log',
    ({ run }) => {
      run.log.events.push({ ...logged(4, { kind: 'end' }), end: run.record.end });
      run.record.lastPos = 4;
    },
  ],
  'an event after the end': [
    'one end, at the end of the log',
    ({ run }) => {
      run.log.events.push(logged(4, {}));
      run.record.lastPos = 4;
    },
  ],
  'another end in the log than in the record': [
    'record and log end alike',
    ({ run }) => Object.assign(run.log.events.at(-1) ?? {}, { end: failed('node.lost') }),
  ],
  'another usage in the log than in the record': [
    'record and log end alike',
    ({ run }) => Object.assign(run.log.events.at(-1) ?? {}, { end: { kind: 'completed', finish: 'stop' } }),
  ],
  'a pos that is missing': ['pos without gaps', ({ run }) => run.log.events.splice(1, 1)],
  'a pos that comes twice': [
    'pos without gaps',
    ({ run }) => run.log.events.splice(1, 0, logged(1, { kind: 'state' })),
  ],
  'a log that lost its beginning': ['pos without gaps', ({ run }) => Object.assign(run.log, { firstPos: 2 })],
  'an attempt too many in the record': ['attempts count up from 1', ({ run }) => void run.record.attempts++],
  'an attempt after content': [
    'no attempt after content',
    ({ run }) => {
      run.log.events.splice(2, 1, logged(3, { kind: 'attempt', attempt: 2 }), logged(4, { kind: 'end' }));
      Object.assign(run.log.events.at(-1) ?? {}, { end: run.record.end });
      Object.assign(run.record, { attempts: 2, lastPos: 4 });
    },
  ],
  'a completed run that lacks its last word': [
    'a completed run said all',
    ({ run }) => Object.assign(run.log, { content: run.log.content.slice(0, -5) }),
  ],
  'a run that said a word of another': [
    'a run says what it was told',
    ({ run, history }) => {
      endAs(run, failed('node.lost'));
      history.faults.push(fault('n1', { kind: 'kill', downMs: 0 }, 500));
      Object.assign(run.log, { content: 'sk1-test-9.0 ' });
    },
  ],
  'a cut answer that looks whole': [
    'no answer that was cut looks whole',
    ({ ask }) => Object.assign(ask.outcome, { content: ask.script.text.slice(0, -5) }),
  ],
  'a doubled word in an answer that broke': [
    'no answer says anything else',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'cut', content: ask.script.text.repeat(2) } }),
  ],
  'a whole answer of a run that failed': [
    'whole means completed',
    ({ run, history }) => {
      endAs(run, failed('node.lost'));
      history.faults.push(fault('n1', { kind: 'kill', downMs: 0 }, 500));
    },
  ],
  'another usage at a door': [
    'one usage everywhere',
    ({ ask }) => Object.assign(ask.outcome, { usage: { prompt: 7, completion: 4 } }),
  ],
  'a stream that ends without a word of why': [
    'a broken answer says why',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'broken', content: '', code: '' } }),
  ],
  'numbers of a stream that jump': [
    'a broken answer says why',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'broken', content: '', code: 'sequence-3-is-4' } }),
  ],
  'an error of a run that completed': [
    'broken means not completed',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'broken', content: '', code: 'node.lost' } }),
  ],
  'a byte that was lost between two connections': [
    'a transcript of many connections equals one of one',
    ({ ask }) => {
      const { transcript } = ask.outcome as { transcript: { assembled: string } };
      transcript.assembled = transcript.assembled.replace('d', '');
    },
  ],
  'a watcher that saw two events the other way round': [
    'a transcript of many connections equals one of one',
    ({ watcher }) => (watcher.outcome as { transcript: { events: unknown[] } }).transcript.events.reverse(),
  ],
  'a watcher that missed an event': [
    'a transcript of many connections equals one of one',
    ({ watcher }) => (watcher.outcome as { transcript: { events: unknown[] } }).transcript.events.pop(),
  ],
  'a lost detached run whose Node was never away': [
    'every end has a cause',
    ({ run }) => endAs(run, failed('node.lost')),
  ],
  'a lost detached run whose Node was away for a moment': [
    'every end has a cause',
    ({ run, history }) => {
      endAs(run, failed('node.lost'));
      history.faults.push(fault('n1', { kind: 'hold', lastsMs: 300 }, 300));
    },
  ],
  'a detached run that a restart of the Edge ended': [
    'every end has a cause',
    ({ run, history }) => {
      endAs(run, failed('edge.restarted'));
      history.faults.push(fault('edge', { kind: 'kill', downMs: 0 }, 500));
    },
  ],
  'a gap that was told as an end': ['every end has a cause', ({ run }) => endAs(run, failed('event.gap'))],
  'an upstream that is blamed though it answered': [
    'every end has a cause',
    ({ run }) => endAs(run, failed('upstream.cut')),
  ],
  'a cancel that nobody asked for': [
    'every end has a cause',
    ({ run, ask, watcher }) => {
      for (const one of [ask, watcher]) one.cancel = undefined;
      endAs(run, { kind: 'cancelled', by: 'operator' });
    },
  ],
  'a detached run that its caller ended by leaving': [
    'every end has a cause',
    ({ run, history }) => {
      for (const one of history.asks) if (one.runId === run.record.runId) one.cancel = undefined;
      endAs(run, { kind: 'cancelled', by: 'caller' });
    },
  ],
  'an acknowledged run that is forgotten': [
    'a run that was acknowledged is there',
    ({ history }) => void history.runs.shift(),
  ],
  'a caller that waits for ever': [
    'everybody is answered',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'stuck', content: '' } }),
  ],
  'a fault of the Edge as an answer': [
    'a refusal is honest',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'refused', status: 500, code: 'internal' } }),
  ],
  'a run that its own caller is told does not exist': [
    'a refusal is honest',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'refused', status: 404, code: 'run.unknown' } }),
  ],
  'a cancel that was answered and forgotten': [
    'an answered cancel ends its run',
    ({ run }) => Object.assign(run.record, { endedAtMs: run.record.createdAtMs + 120_000 }),
  ],
  'two runs of one key at once': [
    'one key, one run',
    ({ history, run }) => void history.runs.push(twin(run, 10)),
  ],
  'a second run of a key whose first succeeded': [
    'one key, one run',
    ({ history, run }) => void history.runs.push(twin(run, 5_000)),
  ],
  'an upstream that was asked twice for one dispatch': [
    'work begins no more often than it was dispatched',
    ({ history }) => void history.effects.push({ ...(history.effects[0] as History['effects'][number]) }),
  ],
  'a program that was started again for one run': [
    'work begins no more often than it was dispatched',
    ({ history, run }) => {
      run.record.attempts = 2;
      run.log.events.splice(1, 0, logged(2, { kind: 'attempt', attempt: 2 }));
      for (const _time of [1, 2]) history.effects.push({ ...effectOfProgram });
      Object.assign(run.record, { marker: effectOfProgram.marker });
    },
  ],
  'a cancelled run whose upstream goes on': [
    'cancelled means stopped',
    ({ history, run }) => {
      endAs(run, { kind: 'cancelled', by: 'caller' });
      Object.assign(history.effects[0] ?? {}, { closedAtMs: undefined });
    },
  ],
  'a run that is open after the calm': [
    'no run is open after the calm',
    ({ history }) => void history.left.openRuns.push('run_x is unknown'),
  ],
  'an upstream that is open after the calm': [
    'no upstream is left open',
    ({ history }) => void history.left.openUpstreams++,
  ],
  'a process that outlives the soak': [
    'no process is left',
    ({ history }) => void history.left.processes.push('12 sh'),
  ],
  'a program that ended by itself': [
    'nothing ends, or fails, by itself',
    ({ history }) => void history.troubles.push({ atMs: 1, what: 'n1 ended by itself' }),
  ],
  'files that stay open': [
    'files are closed',
    ({ history }) => Object.assign(history.left.programs[0]?.last ?? {}, { files: 300 }),
  ],
  'memory that grows': [
    'memory is given back',
    ({ history }) => Object.assign(history.left.programs[0]?.last ?? {}, { residentBytes: 1e9 }),
  ],
  'a store with a wrong page': [
    'stores are whole',
    ({ history }) => Object.assign(history.left.stores[0] ?? {}, { integrity: 'wrong # of entries' }),
  ],
  'a write-ahead log without bound': [
    'write-ahead logs are bounded',
    ({ history }) => Object.assign(history.left.stores[0] ?? {}, { walBytes: 1e9 }),
  ],
};

const effectOfProgram = {
  marker: 'sk1-say-0',
  model: 'say',
  node: '',
  atMs: 0,
  closedAtMs: undefined,
  pieces: 0,
  plan: 'done',
};

function twin({ record, log }: Open<RunStory>, afterMs: number): Open<RunStory> {
  const createdAtMs = record.createdAtMs + afterMs;
  const times = { createdAtMs, endedAtMs: createdAtMs + 100 };
  return { log, record: { ...record, ...times, runId: record.runId.replace(/0$/, 'z') } };
}

for (const [what, [rule, plant]] of Object.entries(planted)) {
  test(`${what} is found`, () => {
    const things = open();
    plant(things);
    const rules = checkHistory(things.history as History).map((violation) => violation.rule);
    assert.ok(rules.includes(rule), `expected "${rule}" among ${JSON.stringify(rules)}`);
  });
}

test('the loss of a detached run is explained by a Node that was killed, or away for so long', () => {
  for (const [act, afterMs] of [
    [{ kind: 'kill', downMs: 0 }, 500],
    [{ kind: 'blackhole', lastsMs: 21_000 }, -19_000],
  ] as const) {
    const { history, run, ask, watcher } = open();
    endAs(run, failed('node.lost'));
    history.faults.push(fault('n1', act, afterMs) as Open<History>['faults'][number]);
    for (const one of [ask, watcher]) Object.assign(one, { outcome: { kind: 'cut', content: '' } });
    const about = checkHistory(history as History).filter(({ rule }) => rule === 'every end has a cause');
    assert.deepEqual(about, []);
  }
});
