// The same trial for ends and their causes, promises, effects and keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { History } from '../history/history.ts';
import type { RunStory } from '../history/run-story.ts';
import { checkHistory } from './check-history.ts';
import { fault, logged } from './good-history.fixture.ts';
import { endAs, failed, type Open, open, testPlantings } from './planting.fixture.ts';

testPlantings({
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
  'a connection that breaks while the Edge is well': [
    'no connection breaks by itself',
    ({ ask }) => Object.assign(ask, { outcome: { kind: 'cut', content: '' } }),
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
});

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
  const times = { createdAtMs, startedAtMs: createdAtMs, endedAtMs: createdAtMs + 100 };
  return { log, record: { ...record, ...times, runId: record.runId.replace(/0$/, 'z') } };
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

test('an answered cancel has 30 s, besides the time in which its Edge or its Node was broken', () => {
  for (const [victim, isExcused] of [
    ['edge', true],
    ['n1', true],
    ['n2', false],
  ] as const) {
    const { history, run } = open();
    // 6 s in all, some of it twice
    for (const afterMs of [1_000, 2_000]) {
      const broken = fault(victim, { kind: 'freeze', lastsMs: 5_000 }, afterMs);
      Object.assign(broken, { endedAtMs: broken.startedAtMs + 5_000 });
      history.faults.push(broken as Open<History>['faults'][number]);
    }
    const late = (at: number) => {
      Object.assign(run.record, { endedAtMs: run.record.createdAtMs + at });
      return checkHistory(history as History).some(({ rule }) => rule === 'an answered cancel ends its run');
    };
    assert.equal(late(35_500), !isExcused, victim);
    assert.equal(late(36_500), true);
  }
});
