import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerLines, doneLine, line } from '../../../testing/fake-ollama.ts';
import { createLab, textOf } from './ollama-fixture.ts';

const weather = (city: string, extra: Record<string, unknown> = {}) => ({
  function: { index: 0, name: 'weather', arguments: { city }, ...extra },
});

describe('ollama: an answer', () => {
  it('becomes text, its reason and its usage', async (test) => {
    const { run, ollama } = await createLab(test, answerLines(line('hello'), line(' world'), doneLine()));
    const { events, end } = await run();
    assert.deepEqual(events, [
      { kind: 'text', text: 'hello' },
      { kind: 'text', text: ' world' },
    ]);
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 7, completionTokens: 2, estimated: false },
    });
    assert.equal(ollama.runs[0]?.json.stream, true);
  });

  it('is streamed by Ollama also for a caller that wants it whole', async (test) => {
    const { run, ollama } = await createLab(test, answerLines(line('hello'), doneLine()));
    const { events } = await run({ stream: false });
    assert.equal(textOf(events), 'hello');
    assert.equal(ollama.runs[0]?.json.stream, true);
  });

  it('is the same wherever its lines are cut', async (test) => {
    const bytes = line({ thinking: 'hm', content: 'é' }) + line('ß') + doneLine({ done_reason: 'length' });
    const { run } = await createLab(test, answerLines(...Array.from(bytes)));
    const { events, end } = await run();
    assert.deepEqual(
      events.map((event) => event.kind),
      ['reasoning', 'text', 'text'],
    );
    assert.equal(textOf(events), 'éß');
    assert.equal(end.kind === 'completed' && end.finish, 'length');
  });

  it('with tool calls finishes tool-calls although Ollama says stop (O6)', async (test) => {
    const { run } = await createLab(test, answerLines(line({ tool_calls: [weather('Bern')] }), doneLine()));
    const { events, end } = await run();
    assert.deepEqual(
      events.map((event) => event.kind === 'tool-call' && [event.name, event.argumentsJson]),
      [['weather', '{"city":"Bern"}']],
    );
    assert.equal(end.kind === 'completed' && end.finish, 'tool-calls');
  });

  it('numbers its tool calls, though function.index is 0 for all, and gives each an id (O4)', async (test) => {
    const lines = [
      line({ tool_calls: [weather('Bern'), weather('Rome')] }),
      line({ tool_calls: [weather('Oslo')] }),
    ];
    const { run } = await createLab(test, answerLines(...lines, doneLine()));
    const { events } = await run();
    const calls = events.flatMap((event) => (event.kind === 'tool-call' ? [event] : []));
    assert.deepEqual(
      calls.map(({ index, argumentsJson }) => [index, argumentsJson]),
      [
        [0, '{"city":"Bern"}'],
        [1, '{"city":"Rome"}'],
        [2, '{"city":"Oslo"}'],
      ],
    );
    assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
    for (const { id } of calls) assert.match(id, /^call_\w+_\d$/);
  });

  it('keeps ids that Ollama gives, unless it gives one twice', async (test) => {
    const given = { id: 'call_abc', ...weather('Bern') };
    const { run } = await createLab(test, answerLines(line({ tool_calls: [given, given] }), doneLine()));
    const ids = (await run()).events.map((event) => event.kind === 'tool-call' && event.id);
    assert.equal(ids[0], 'call_abc');
    assert.match(String(ids[1]), /^call_\w+_1$/);
  });

  it('takes arguments as a string, and none at all', async (test) => {
    const calls = [weather('', { arguments: '{"a":1}' }), weather('', { arguments: undefined })];
    const { run } = await createLab(test, answerLines(line({ tool_calls: calls }), doneLine()));
    const { events } = await run();
    assert.deepEqual(
      events.map((event) => event.kind === 'tool-call' && event.argumentsJson),
      ['{"a":1}', '{}'],
    );
  });

  it('in one huge line is given in pieces that cut no character', async (test) => {
    const text = `a${'😀'.repeat(50_000)}`;
    const { run } = await createLab(test, answerLines(line({ thinking: text, content: text }), doneLine()));
    const { events } = await run();
    assert.equal(textOf(events), text);
    assert.ok(events.length > 10);
    for (const event of events) {
      if (event.kind === 'text') assert.ok(event.text.length <= 16 * 1024 && event.text.isWellFormed());
    }
  });

  it('without a count of the prompt, which was cached, has an estimate that says so', async (test) => {
    const { run } = await createLab(test, answerLines(line('x'), doneLine({ prompt_eval_count: undefined })));
    const { end } = await run();
    assert.deepEqual(end.usage, { promptTokens: 2, completionTokens: 2, estimated: true });
  });

  it('whose last line lacks only its end is whole', async (test) => {
    const { run } = await createLab(test, answerLines(line('x'), doneLine().trimEnd()));
    assert.equal((await run()).end.kind, 'completed');
  });

  it('to a plain prompt', async (test) => {
    const { run, ollama } = await createLab(test, answerLines(line('hi'), doneLine()));
    const { events } = await run({ dialect: 'iop.prompt', body: Buffer.from('say hi') });
    assert.equal(textOf(events), 'hi');
    assert.deepEqual(ollama.runs[0]?.json.messages, [{ role: 'user', content: 'say hi' }]);
  });
});
