import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { APIUserAbortError } from 'openai';
import { eventually } from '../harness/eventually.ts';
import { askForever, askLong } from './ask.ts';
import type { Place, Row } from './place.ts';

/** A caller that leaves stops the engine: its connection is closed and its slot is free again. */
export const stopRows: readonly Row[] = [
  {
    name: 'a caller that leaves in mid-stream frees the slot',
    async run(place, test) {
      const stop = new AbortController();
      const seen = place.tap.chats.length;
      const stream = await place.client.chat.completions.create(
        { ...askForever(place.model), stream: true },
        { signal: stop.signal },
      );
      // Not by leaving a loop: that would close the connection by itself.
      const chunks = stream[Symbol.asyncIterator]();
      for (let count = 0; count < 5; count++) assert.ok((await chunks.next()).done !== true);
      assert.notEqual(await place.engine.load(), 0);
      await leave(place, stop, seen, (line) => test.diagnostic(line));
    },
  },
  {
    name: 'a caller that leaves before the first token frees the slot',
    async run(place, test) {
      const stop = new AbortController();
      const seen = place.tap.chats.length;
      const asked = place.client.chat.completions.create(
        { ...askLong(place.model), stream: true },
        { signal: stop.signal },
      );
      asked.catch(() => {});
      await atWork(place, seen);
      await leave(place, stop, seen, (line) => test.diagnostic(line));
      // llama.cpp sends its headers at once, so a stream may exist; it has no content.
      const stream = await asked.catch((problem) => problem as Error);
      if (stream instanceof Error) assert.ok(stream instanceof APIUserAbortError, stream.message);
    },
  },
  {
    name: 'a caller of a whole answer that leaves frees the slot',
    async run(place, test) {
      const stop = new AbortController();
      const seen = place.tap.chats.length;
      const asked = place.client.chat.completions.create(askForever(place.model), { signal: stop.signal });
      const refused = assert.rejects(asked, APIUserAbortError);
      await atWork(place, seen);
      await leave(place, stop, seen, (line) => test.diagnostic(line));
      await refused;
    },
  },
];

/** Not by its own word: vLLM counts a request only after its first step. */
async function atWork(place: Place, seen: number): Promise<void> {
  await place.tap.chat(seen);
  await sleep(500);
}

async function leave(
  place: Place,
  stop: AbortController,
  seen: number,
  say: (line: string) => void,
): Promise<void> {
  const left = performance.now();
  stop.abort();
  const tapped = await place.tap.chat(seen);
  const closed = await eventually('the connection to the engine closes', 5_000, () => tapped.hungUpAt);
  await place.engine.idle(60_000);
  say(
    `connection closed after ${Math.round(closed - left)} ms, idle after ${Math.round(performance.now() - left)} ms`,
  );
}
