import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { hello, openHttpLab } from '../../testing/http-lab.ts';
import type { ScriptedRun } from '../../testing/scripted-edge.ts';

/** The description that OpenAI publishes; it is large and not ours, so it lies beside the repository, if at all. */
function findDescription(): string | undefined {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'shared', 'data', 'openai-openapi.json');
    if (existsSync(file)) return file;
  }
  return undefined;
}

const file = findDescription();
const skip = file === undefined ? 'shared/data/openai-openapi.json is not here' : false;

function compile(): (name: string, value: unknown) => void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(JSON.parse(readFileSync(file ?? '', 'utf8'), withNull), 'openai');
  const compiled = new Map<string, ValidateFunction>();
  return (name, value) => {
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `openai#/components/schemas/${name}` });
    compiled.set(name, validate);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
  };
}

/** The description says in places what OpenAPI 3.0 said, which JSON Schema 2020 does not know. */
function withNull(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
  const { nullable, ...rest } = value;
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}

/** Everything that an adapter without a dialect can say. */
function playAll(run: ScriptedRun): void {
  run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'Looking.' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
  run.emit({ kind: 'tool-call', index: 1, id: '', name: 'time', argumentsJson: '{}' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
  run.complete({ finish: 'tool-calls', usage: { promptTokens: 1, completionTokens: 2, estimated: true } });
}

test('whole answers match CreateChatCompletionResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  for (const script of [
    playAll,
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
  lab.edge.script = playAll;
  for (const includeUsage of [true, false]) {
    const ask = { ...hello, stream: true, stream_options: { include_usage: includeUsage } };
    const text = await (await lab.chat(ask)).text();
    const events = text.trimEnd().split('\n\n');
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
  assertMatches('ErrorResponse', JSON.parse(text.trimEnd().split('\n\n').at(-1)?.slice(6) ?? ''));
});

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
