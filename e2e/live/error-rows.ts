import assert from 'node:assert/strict';
import { APIError } from 'openai';
import { ask, askTooLong } from './ask.ts';
import type { Place, Row } from './place.ts';

/** What the engine refuses is passed on: its status and its words. */
export const errorRows: readonly Row[] = [
  {
    name: 'a prompt that is too long is refused with the status and words of the engine',
    run: (place) =>
      refusedAlike(place, () => place.client.chat.completions.create(askTooLong(place.model)), /context/),
  },
  {
    name: 'a stream of a prompt that is too long is refused before it starts',
    run: (place) =>
      refusedAlike(
        place,
        () => place.client.chat.completions.create({ ...askTooLong(place.model), stream: true }),
        /context/,
      ),
  },
  {
    name: 'an image for a model without eyes is refused with the status and words of the engine',
    run: (place) =>
      refusedAlike(place, () => place.client.chat.completions.create(askAboutImage(place.model)), /./),
  },
  {
    name: 'after refusals the engine still answers',
    async run({ client, model }) {
      const answer = await client.chat.completions.create(ask(model));
      assert.equal(answer.choices[0]?.message.role, 'assistant');
    },
  },
];

async function refusedAlike(place: Place, asked: () => Promise<unknown>, words: RegExp): Promise<void> {
  const seen = place.tap.chats.length;
  const refused = await failure(asked());
  const { status, answer } = await place.tap.chat(seen);
  const said = (JSON.parse(answer) as { error: { message: string; type: string } }).error;
  assert.match(said.message, words);
  assert.equal(refused.status, status);
  assert.ok(refused.message.includes(said.message), refused.message);
  assert.equal(refused.type, said.type);
}

function askAboutImage(model: string): ReturnType<typeof ask> {
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  return ask(model, { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
}

async function failure(asked: Promise<unknown>): Promise<APIError> {
  const problem = await asked.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (problem instanceof APIError) return problem;
  throw problem;
}
