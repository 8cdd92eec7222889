import assert from 'node:assert/strict';
import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { eventually } from '../harness/eventually.ts';
import type { Place, Row } from './place.ts';

/** What Anthropic's client gets: the engine serves messages itself, IOP asks it for chats. */
export const messageRows: readonly Row[] = [
  {
    name: 'messages: a streamed answer says what the whole answer says, with the same usage',
    async run(place) {
      const client = clientOf(place);
      const whole = await client.messages.create(ask(place.model));
      const streamed = await client.messages.stream(ask(place.model)).finalMessage();
      assert.deepEqual(textOf(streamed), textOf(whole));
      assert.match(whole.stop_reason ?? '', /^(end_turn|max_tokens)$/);
      assert.ok(whole.usage.input_tokens > 0 && whole.usage.output_tokens > 0);
      assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
    },
  },
  {
    name: 'messages: the tokens that are counted before are those that are used',
    async run(place, test) {
      const client = clientOf(place);
      const { model, messages } = ask(place.model);
      const { data, response } = await client.messages.countTokens({ model, messages }).withResponse();
      const { usage } = await client.messages.create(ask(place.model));
      const used = usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
      test.diagnostic(`counted ${data.input_tokens}, used ${used}`);
      assert.equal(response.headers.get('x-iop-estimated'), null);
      assert.equal(data.input_tokens, used);
    },
  },
  {
    name: 'messages: a prompt that is too long is said to be, in the words that agents wait for',
    only: 'iop',
    async run(place) {
      const content = 'word '.repeat(6_000);
      const asking = clientOf(place).messages.create({
        ...ask(place.model),
        messages: [{ role: 'user', content }],
      });
      await assert.rejects(
        asking,
        (error) => error instanceof BadRequestError && /prompt is too long/.test(error.message),
      );
    },
  },
  {
    name: 'messages: a caller that leaves in mid-stream frees the slot',
    only: 'iop',
    async run(place) {
      const seen = place.tap.chats.length;
      const stop = new AbortController();
      const stream = await clientOf(place).messages.create(
        { ...ask(place.model, 'Tell me a very long story.'), max_tokens: 1500, stream: true },
        { signal: stop.signal },
      );
      const events = stream[Symbol.asyncIterator]();
      for (let count = 0; count < 6; count++) assert.ok((await events.next()).done !== true);
      stop.abort();
      const tapped = await place.tap.chat(seen);
      await eventually('the connection to the engine closes', 5_000, () => tapped.hungUpAt);
      await place.engine.idle(60_000);
    },
  },
];

function clientOf({ client }: Place): Anthropic {
  const baseURL = client.baseURL.replace(/\/v1$/, '');
  return new Anthropic({ baseURL, apiKey: client.apiKey, maxRetries: 0, timeout: 120_000 });
}

function ask(model: string, content = 'Name three colours.') {
  return { model, max_tokens: 24, temperature: 0, messages: [{ role: 'user' as const, content }] };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
