import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { type FakeEdge, type FakeReply, startFakeEdge } from '@iop/client/testing';
import type { RunEnd } from '@iop/domain';
import { createSystemClock } from '@iop/shell';
import {
  CancelRunResponseSchema,
  CreateKeyResponseSchema,
  create,
  KeyInfoSchema,
  ListNodesResponseSchema,
  ListRunsResponseSchema,
  NodeInfoSchema,
  type OperatorRequest,
  RawEventSchema,
  type RunEvent,
  RunEventSchema,
  RunInfoSchema,
  RunState,
  StartRunResponseSchema,
  toEndEvent,
  toFailure,
} from '@iop/wire';
import { runIop, startIop } from './run-iop.ts';

const runId = `run_${'0'.repeat(26)}`;
const limit = { timeout: 40_000 };
const dir = mkdtempSync(join(tmpdir(), 'iop-cli-'));
const socket = join(dir, 'operator.sock');
after(() => rmSync(dir, { recursive: true }));

let onRequest: (request: OperatorRequest, reply: FakeReply) => void;
let edge: FakeEdge;
beforeEach(async () => {
  edge = await startFakeEdge({
    socketPath: socket,
    clock: createSystemClock(),
    onRequest: (request, reply) => onRequest(request, reply),
  });
});
afterEach(() => edge.close());

const iop = (...args: string[]) => runIop([...args, '--socket', socket]);
const runArgs = ['run', '-a', 'mock', '-t', 'echo', '--socket', socket];

function rawEvent(message: unknown): RunEvent {
  const data = new TextEncoder().encode(`data: ${JSON.stringify({ choices: [{ delta: message }] })}\n\n`);
  return create(RunEventSchema, {
    kind: { case: 'raw', value: create(RawEventSchema, { dialect: 'openai.chat', data }) },
  });
}

function endEvent(end: RunEnd): RunEvent {
  return create(RunEventSchema, { kind: { case: 'end', value: toEndEvent(end) } });
}

/** Starts every run that is asked for, then plays `play`. */
function playRun(play: (reply: FakeReply) => void): void {
  let started: FakeReply | undefined;
  onRequest = ({ request }, reply) => {
    if (request.case === 'startRun') {
      started = reply;
      reply.answer({ case: 'startRun', value: create(StartRunResponseSchema, { runId }) });
      play(reply);
    }
    if (request.case === 'cancelRun') {
      reply.answer({
        case: 'cancelRun',
        value: create(CancelRunResponseSchema, { state: RunState.STOPPING }),
      });
      started?.update(runId, RunState.CANCELLED, 9, [endEvent({ kind: 'cancelled', by: 'operator' })]);
    }
  };
}

test('the answer is streamed to stdout, reasoning goes to stderr', limit, async () => {
  playRun((reply) => {
    reply.update(runId, RunState.RUNNING, 1, [rawEvent({ reasoning: 'hm' }), rawEvent({ content: 'Hel' })]);
    reply.update(runId, RunState.COMPLETED, 3, [
      rawEvent({ content: 'lo' }),
      endEvent({ kind: 'completed', finish: 'stop' }),
    ]);
  });
  assert.deepEqual(await runIop([...runArgs, 'Hi']), { code: 0, out: 'Hello\n', err: 'hm\n' });
});

test('a prompt of - is read from stdin', limit, async () => {
  let body = '';
  playRun((reply) =>
    reply.update(runId, RunState.COMPLETED, 1, [endEvent({ kind: 'completed', finish: 'stop' })]),
  );
  const play = onRequest;
  onRequest = (request, reply) => {
    if (request.request.case === 'startRun') body = new TextDecoder().decode(request.request.value.body);
    play(request, reply);
  };
  assert.equal((await runIop([...runArgs, '-'], 'from a pipe')).code, 0);
  assert.deepEqual(JSON.parse(body), {
    model: 'echo',
    stream: true,
    messages: [{ role: 'user', content: 'from a pipe' }],
  });
  assert.equal((await runIop([...runArgs, '-'], '  \n')).code, 64);
});

test('Ctrl-C cancels the run, waits for its end and exits 130', limit, async () => {
  playRun((reply) => reply.update(runId, RunState.RUNNING, 1, [rawEvent({ content: 'never ending' })]));
  const running = startIop([...runArgs, 'Hi']);
  await running.shows('never ending');
  running.child.kill('SIGINT');
  const { code, err } = await running.ended;
  assert.equal(code, 130);
  assert.match(err, /cancelling…/);
});

test('a run that fails exits by the kind of its failure, with its words', limit, async () => {
  const failure = {
    kind: 'unavailable',
    code: 'upstream.cut',
    message: 'the upstream hung up',
    details: {},
    retryable: false,
  } as const;
  playRun((reply) =>
    reply.update(runId, RunState.FAILED, 1, [
      rawEvent({ content: 'half' }),
      endEvent({ kind: 'failed', failure }),
    ]),
  );
  assert.deepEqual(await runIop([...runArgs, 'Hi']), {
    code: 69,
    out: 'half\n',
    err: 'iop: the upstream hung up\n',
  });
});

test('a run that another operator cancels is not a success', limit, async () => {
  playRun((reply) =>
    reply.update(runId, RunState.CANCELLED, 1, [endEvent({ kind: 'cancelled', by: 'operator' })]),
  );
  const { code, err } = await runIop([...runArgs, 'Hi']);
  assert.equal(code, 75);
  assert.match(err, /cancelled \(operator\)/);
});

test('a link that is lost in the middle is not a success', limit, async () => {
  playRun((reply) => {
    reply.update(runId, RunState.RUNNING, 1, [rawEvent({ content: 'half' })]);
    setTimeout(() => reply.cut(), 100);
  });
  const { code, err } = await runIop([...runArgs, 'Hi']);
  assert.equal(code, 69);
  assert.match(err, /the link to the Edge fake is gone/);
});

test('with --json every event is a line, the end is the last', limit, async () => {
  playRun((reply) =>
    reply.update(runId, RunState.COMPLETED, 1, [
      rawEvent({ content: 'a' }),
      endEvent({ kind: 'completed', finish: 'stop' }),
    ]),
  );
  const { code, out } = await runIop([...runArgs, '--json', 'Hi']);
  assert.equal(code, 0);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.map((line) => line.kind),
    ['started', 'event', 'end'],
  );
  assert.equal(lines[1]?.pos, 1);
  assert.deepEqual(lines[2]?.end, { kind: 'completed', finish: 'stop' });
});

test('Nodes are a table for people and a document for programs', limit, async () => {
  const node = create(NodeInfoSchema, {
    name: 'gpu-1',
    state: 'ready',
    running: 2,
    adapters: [{ name: 'vllm', kind: 'vllm', healthy: true, targets: ['a', 'b'] }],
  });
  onRequest = (_request, reply) =>
    reply.answer({ case: 'listNodes', value: create(ListNodesResponseSchema, { nodes: [node] }) });
  assert.match(
    (await iop('nodes')).out,
    /^NODE {3}STATE {2}RUNNING {2}ADAPTERS {2}SEEN\ngpu-1 {2}ready {2}2 {8}vllm\(2\) {3}now\n$/,
  );
  const { nodes } = JSON.parse((await iop('nodes', '--json')).out) as { nodes: { name: string }[] };
  assert.equal(nodes[0]?.name, 'gpu-1');
});

test('an empty list is said in words', limit, async () => {
  onRequest = ({ request }, reply) => {
    if (request.case === 'listRuns')
      reply.answer({ case: 'listRuns', value: create(ListRunsResponseSchema) });
    else reply.answer({ case: 'listNodes', value: create(ListNodesResponseSchema) });
  };
  assert.match((await iop('nodes')).out, /No Node is known yet/);
  assert.match((await iop('runs')).out, /No run yet/);
  assert.match((await iop('runs', '--state', 'failed')).out, /No run is failed/);
  assert.equal((await iop('runs', '--json')).out, '{"runs":[]}\n');
});

test('runs are listed with their end', limit, async () => {
  const run = create(RunInfoSchema, {
    runId,
    state: RunState.CANCELLED,
    adapter: 'mock',
    target: 'echo',
    node: 'n1',
    door: 'openai',
    createdAt: '1700000000000',
    startedAt: '1700000000000',
    endedAt: '1700000002000',
    end: toEndEvent({ kind: 'cancelled', by: 'caller' }),
  });
  let asked: unknown;
  onRequest = ({ request }, reply) => {
    asked =
      request.case === 'listRuns' ? { limit: request.value.limit, states: request.value.states } : undefined;
    reply.answer({ case: 'listRuns', value: create(ListRunsResponseSchema, { runs: [run] }) });
  };
  const { out } = await iop('runs', '--limit', '5', '--state', 'cancelled,running');
  assert.match(out, /cancelled {2}mock\/echo {2}n1 {4}attached {2}openai .* ago {2}2 s {3}by caller\n/);
  assert.deepEqual(asked, { limit: 5, states: [RunState.CANCELLED, RunState.RUNNING] });
  const wrong = await iop('runs', '--state', 'runing');
  assert.equal(wrong.code, 64);
  assert.match(wrong.err, /did you mean running\?/);
});

test('a cancel says what became of it', limit, async () => {
  let state: RunState = RunState.STOPPING;
  onRequest = (_request, reply) =>
    reply.answer({ case: 'cancelRun', value: create(CancelRunResponseSchema, { state }) });
  assert.equal((await iop('cancel', runId)).out, `${runId} is stopping\n`);
  state = RunState.COMPLETED;
  assert.equal((await iop('cancel', runId)).out, `${runId} had already ended: completed\n`);
  assert.equal((await iop('cancel', 'nonsense')).code, 64);
});

test('what the Edge refuses is said in its words', limit, async () => {
  const failure = toFailure({ kind: 'not-found', code: 'run.unknown', message: 'no such run', details: {} });
  onRequest = (_request, reply) => reply.answer({ case: 'failure', value: failure });
  const { code, err } = await iop('cancel', runId, '--json');
  assert.equal(code, 64);
  assert.deepEqual(JSON.parse(err), {
    error: { kind: 'not-found', code: 'run.unknown', message: 'no such run', details: {} },
  });
});

test('a new key is printed alone on stdout', limit, async () => {
  const key = create(KeyInfoSchema, { id: 'abc', name: 'kim' });
  onRequest = (_request, reply) =>
    reply.answer({ case: 'createKey', value: create(CreateKeyResponseSchema, { key, secret: 'iop_abc_x' }) });
  const { out, err } = await iop('keys', 'create', 'kim');
  assert.equal(out, 'iop_abc_x\n');
  assert.match(err, /only time/);
  assert.equal((await iop('keys', 'create')).code, 64);
  assert.equal((await iop('keys', 'destroy', 'x')).code, 64);
});
