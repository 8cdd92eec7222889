import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { answerLines, cutLines, doneLine, responseLine } from '../../../testing/fake-ollama.ts';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { createLab, failureOf, textOf } from './ollama-fixture.ts';

async function complete(test: TestContext, play: Play, request: Record<string, unknown> = {}) {
  const { run, ollama } = await createLab(test, play);
  const body = Buffer.from(JSON.stringify({ model: 'public', prompt: 'once', ...request }));
  return { ...(await run({ dialect: 'openai.completions', body })), ollama };
}

const last = doneLine({ message: undefined, response: '', context: [1, 2, 3] });

describe('ollama: a completion', () => {
  it('becomes text and reasoning, its reason and its usage', async (test) => {
    const lines = [responseLine('', { thinking: 'hm' }), responseLine(' upon'), responseLine(' a time')];
    const { events, end, ollama } = await complete(test, answerLines(...lines, last));
    assert.deepEqual(events, [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: ' upon' },
      { kind: 'text', text: ' a time' },
    ]);
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 7, completionTokens: 2, estimated: false },
    });
    assert.deepEqual([ollama.runs[0]?.path, ollama.runs[0]?.json.stream], ['/api/generate', true]);
  });

  it('begins with its prompt once, if that was asked for', async (test) => {
    const play = answerLines(responseLine(' upon'), responseLine(' a time'), last);
    const { events } = await complete(test, play, { echo: true });
    assert.equal(textOf(events), 'once upon a time');
  });

  it('that was cut off is no completion', async (test) => {
    const { end } = await complete(test, cutLines(responseLine(' upon'), '{"response":" a'));
    assert.equal(failureOf(end).code, 'upstream.cut');
  });

  it('that failed shows nothing of an echo, so that another Node may try', async (test) => {
    const play = answerStatus(503, { error: 'server busy' });
    const { events, end } = await complete(test, play, { echo: true });
    assert.deepEqual([events, failureOf(end).code], [[], 'upstream.queue-full']);
  });

  it('with a suffix, of a model that cannot insert, is refused as not supported', async (test) => {
    const play = answerStatus(400, { error: 'registry.ollama.ai/library/m:latest does not support insert' });
    const { end } = await complete(test, play, { suffix: 'the end' });
    assert.deepEqual([failureOf(end).kind, failureOf(end).code], ['unsupported', 'upstream.unsupported']);
  });
});
