// The checker itself is on trial: a history in which nothing is wrong passes, and each planted violation is found
// by the rule that is there for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './check-history.ts';
import { fault, goodHistory, logged } from './good-history.fixture.ts';
import { endAs, failed, testPlantings } from './planting.fixture.ts';

test('a history in which nothing is wrong passes', () => {
  assert.deepEqual(checkHistory(goodHistory()), []);
});

testPlantings({
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
});
