import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishReason } from '@iop/domain';
import { hello, openHttpLab } from '../../testing/http-lab.ts';
import { compile, skip } from '../../testing/openai-schemas.ts';
import type { ScriptedRun } from '../../testing/scripted-edge.ts';
import { withoutIds } from '../../testing/sse-text.ts';

/** Everything that an adapter without a dialect can say. */
function playAll(run: ScriptedRun, finish: FinishReason = 'tool-calls'): void {
  run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'Looking.' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
  run.emit({ kind: 'tool-call', index: 1, id: '', name: 'time', argumentsJson: '{}' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
  run.complete({ finish, usage: { promptTokens: 1, completionTokens: 2, estimated: true } });
}

test('whole answers match CreateChatCompletionResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  for (const script of [
    (run: ScriptedRun) => playAll(run),
    (run: ScriptedRun) => run.complete(),
    (run: ScriptedRun) => run.complete({ finish: 'other' }),
  ]) {
    lab.edge.script = script;
    assertMatches('CreateChatCompletionResponse', await (await lab.chat(hello)).json());
  }
});

test('every chunk matches CreateChatCompletionStreamResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  lab.edge.script = (run) => playAll(run);
  for (const includeUsage of [true, false]) {
    const ask = { ...hello, stream: true, stream_options: { include_usage: includeUsage } };
    const text = await (await lab.chat(ask)).text();
    const events = withoutIds(text).trimEnd().split('\n\n');
    assert.equal(events.pop(), 'data: [DONE]');
    assert.ok(events.length > 6);
    for (const event of events)
      assertMatches('CreateChatCompletionStreamResponse', JSON.parse(event.slice(6)));
  }
});

test('every error matches ErrorResponse, in an answer and in a stream', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  const answers = [
    await lab.get('/v1/models', {}),
    await lab.get('/v1/models/none'),
    await lab.get('/nowhere'),
    await lab.get('/v1/chat/completions'),
    await lab.chat('{'),
    await lab.chat({ model: 'qwen', messages: [] }),
    await lab.post('/v1/completions', { model: 'qwen' }),
    await lab.post('/v1/embeddings', { model: 'qwen', input: [] }),
    await lab.post('/v1/rerank', {}),
    await lab.post('/v1/rerank', { model: 7 }),
    await lab.chat({ ...hello, padding: 'x'.repeat(2_000_000) }),
  ];
  lab.edge.script = (run) => run.fail();
  answers.push(await lab.chat(hello));
  for (const answer of answers) {
    assert.ok(answer.status >= 400);
    assertMatches('ErrorResponse', await answer.json());
  }
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'half' });
    run.fail();
  };
  const text = await (await lab.chat({ ...hello, stream: true })).text();
  assertMatches('ErrorResponse', JSON.parse(withoutIds(text).trimEnd().split('\n\n').at(-1)?.slice(6) ?? ''));
});

test('a whole completion matches CreateCompletionResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  const ask = { model: 'qwen', prompt: 'hello' };
  for (const finish of ['stop', 'length', 'tool-calls', 'content-filter', 'other'] as const) {
    lab.edge.script = (run) => {
      playAll(run, finish);
    };
    assertMatches('CreateCompletionResponse', await (await lab.post('/v1/completions', ask)).json());
  }
});

test('every chunk of a completion matches CreateCompletionResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  lab.edge.script = (run) => playAll(run, 'length');
  for (const includeUsage of [true, false]) {
    const options = { stream: true, stream_options: { include_usage: includeUsage } };
    const ask = { model: 'qwen', prompt: 'hello', ...options };
    const text = await (await lab.post('/v1/completions', ask)).text();
    const events = withoutIds(text).trimEnd().split('\n\n');
    assert.equal(events.pop(), 'data: [DONE]');
    assert.ok(events.length >= 3);
    for (const event of events)
      assertMatches('CreateCompletionResponse', lastOfItsKind(JSON.parse(event.slice(6))));
  }
});

/**
 * The description has one schema for whole completions and for chunks, in which there is always a
 * reason and usage is never null; what OpenAI itself streams has null in all but the last chunk.
 */
function lastOfItsKind({ usage, ...chunk }: { usage?: unknown; choices: { finish_reason: unknown }[] }) {
  const choices = chunk.choices.map((each) => ({ ...each, finish_reason: each.finish_reason ?? 'stop' }));
  return { ...chunk, choices, ...(usage !== null && usage !== undefined && { usage }) };
}

test('models match ListModelsResponse and Model', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  assertMatches('ListModelsResponse', await (await lab.get('/v1/models')).json());
  assertMatches('Model', await (await lab.get('/v1/models/mock/echo')).json());
});

test('the schemas would notice a fault', { skip }, () => {
  const assertMatches = compile();
  assert.throws(() => assertMatches('ErrorResponse', { error: { message: 'x', type: 'y', code: null } }));
  assert.throws(() => assertMatches('Model', { id: 1, object: 'model', created: 1, owned_by: 'iop' }));
  assert.throws(() => assertMatches('CreateChatCompletionResponse', { id: 'x', choices: [{}] }));
});
