import assert from 'node:assert/strict';
import { APIError, BadRequestError } from 'openai';
import { ask, askTooLong } from './ask.ts';
import type { Row } from './place.ts';

/** What the engine refuses is passed on: its status and its words. */
export const errorRows: readonly Row[] = [
  {
    name: 'a prompt that is too long is refused with the status and words of the engine',
    async run({ client }) {
      const refused = await failure(client.chat.completions.create(askTooLong()));
      assert.ok(refused instanceof BadRequestError);
      assert.match(refused.message, /exceeds the available context size \(\d+ tokens\)/);
      assert.equal(refused.type, 'exceed_context_size_error');
    },
  },
  {
    name: 'a stream of a prompt that is too long is refused before it starts',
    async run({ client }) {
      const refused = await failure(client.chat.completions.create({ ...askTooLong(), stream: true }));
      assert.ok(refused instanceof BadRequestError);
      assert.match(refused.message, /exceeds the available context size/);
    },
  },
  {
    name: 'an image is refused with the words of the engine',
    async run({ client }) {
      const url = 'data:image/png;base64,iVBORw0KGgo=';
      const content = [{ type: 'image_url' as const, image_url: { url } }];
      const refused = await failure(
        client.chat.completions.create(ask({ messages: [{ role: 'user', content }] })),
      );
      assert.equal(refused.status, 500);
      assert.match(refused.message, /image input is not supported/);
    },
  },
  {
    name: 'after refusals the engine still answers',
    run: async ({ client }) =>
      assert.equal((await client.chat.completions.create(ask())).choices[0]?.message.role, 'assistant'),
  },
];

async function failure(asked: Promise<unknown>): Promise<APIError> {
  const problem = await asked.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (problem instanceof APIError) return problem;
  throw problem;
}
