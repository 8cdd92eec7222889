import assert from 'node:assert/strict';
import { ask, askForTool } from './ask.ts';
import type { Place, Row } from './place.ts';

/** What goes through is what was sent, byte by byte, in both directions. */
export const byteRows: readonly Row[] = [
  {
    name: 'a request reaches the engine byte by byte, with fields that nobody knows',
    async run(place) {
      // What a parser and a printer would change: spaces, escapes, long numbers, a repeated key.
      const odd =
        ' "x_odd" : { "big":12345678901234567890, "e" : 1E+2, "esc":"\\u00e9\\/" , "twice":1,"twice":2 } ';
      const body = `{ "model":"${place.model}",${odd}, "messages":[{"role":"user","content":"Hi"}],"max_tokens":2}`;
      const seen = place.tap.chats.length;
      const answer = await place.post(body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await place.tap.chat(seen)).body, body);
    },
  },
  {
    name: 'of a streamed request only the wish for usage is changed',
    async run(place) {
      const body = JSON.stringify({
        ...ask(place.model),
        stream: true,
        stream_options: { include_obfuscation: false },
      });
      const seen = place.tap.chats.length;
      await place.post(body);
      const { stream_options: _reached, ...reached } = JSON.parse((await place.tap.chat(seen)).body);
      const { stream_options: _sent, ...sent } = JSON.parse(body);
      assert.deepEqual(reached, sent);
    },
  },
  {
    name: 'a streamed answer is what the engine sent, byte by byte',
    async run(place) {
      const { got, sent } = await streamed(place, true);
      assert.match(got, /data: \[DONE\]\n\n$/);
      assert.equal(got.trimEnd(), sent.trimEnd());
    },
  },
  {
    name: 'a streamed answer without include_usage is what the engine sent less the usage',
    async run(place) {
      const { got, sent } = await streamed(place, false);
      const wanted = events(sent).filter((event) => !event.includes('"choices":[]'));
      assert.deepEqual(events(got), wanted);
    },
  },
  {
    name: 'a stream that may hold tool calls is what the engine sent, byte by byte',
    async run(place) {
      const { got, sent } = await streamed(place, true, askForTool(place.model));
      assert.equal(got.trimEnd(), sent.trimEnd());
    },
  },
  {
    name: 'a whole answer is what the engine sent, byte by byte',
    async run(place) {
      const seen = place.tap.chats.length;
      const answer = await place.post(JSON.stringify(ask(place.model)));
      assert.equal(answer.text, (await place.tap.chat(seen)).answer);
    },
  },
  {
    name: 'the same request with temperature 0 gives the same stream as the engine itself',
    only: 'iop',
    async run(place) {
      const body = JSON.stringify({
        ...ask(place.model),
        stream: true,
        stream_options: { include_usage: true },
      });
      const headers = { 'content-type': 'application/json' };
      const direct = await fetch(`${place.tap.baseUrl}/chat/completions`, { method: 'POST', headers, body });
      const there = events(await direct.text()).map(timeless);
      const here = events((await place.post(body)).text).map(timeless);
      assert.deepEqual(here, there);
    },
  },
];

async function streamed(
  place: Place,
  usage: boolean,
  asked = ask(place.model),
): Promise<{ got: string; sent: string }> {
  const seen = place.tap.chats.length;
  const options = usage ? { stream_options: { include_usage: true } } : {};
  const answer = await place.post(JSON.stringify({ ...asked, stream: true, ...options }));
  assert.equal(answer.headers.get('content-type')?.split(';')[0], 'text/event-stream');
  return { got: uncommented(answer.text), sent: (await place.tap.chat(seen)).answer };
}

/** Without the comment lines that keep a silent connection awake, and without the numbers of events. */
function uncommented(text: string): string {
  return text.replace(/^:.*\n\n/gm, '').replace(/^id: \d+\n/gm, '');
}

function events(text: string): string[] {
  return uncommented(text)
    .split('\n\n')
    .map((event) => event.trim())
    .filter((event) => event !== '');
}

/** An event without what differs from run to run. */
function timeless(event: string): unknown {
  if (!event.startsWith('data: {')) return event;
  const { id: _id, created: _created, timings: _timings, ...kept } = JSON.parse(event.slice(6));
  return kept;
}
