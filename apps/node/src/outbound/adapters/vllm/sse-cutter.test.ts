import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SseCutter } from './sse-cutter.ts';

function cut(chunks: readonly string[], maxEventBytes = 1024) {
  const events: string[] = [];
  const taker = {
    event: (bytes: Uint8Array, start: number, end: number) =>
      void events.push(Buffer.from(bytes.subarray(start, end)).toString()),
  };
  const cutter = new SseCutter(taker, maxEventBytes);
  const fits = chunks.map((chunk) => cutter.push(Buffer.from(chunk)));
  return { events, rest: Buffer.from(cutter.rest()).toString(), fits };
}

/** All ways to cut `text` into two or three chunks. */
function* cuts(text: string): Generator<string[]> {
  for (let a = 0; a <= text.length; a++) {
    for (let b = a; b <= text.length; b++) yield [text.slice(0, a), text.slice(a, b), text.slice(b)];
  }
}

describe('SSE cutter', () => {
  it('hands on whole events of LF lines, wherever the stream was cut', () => {
    const text = 'data: 1\n\nevent: x\ndata: 2\n\n: c\n\ndata: [DONE]\n\n';
    for (const chunks of cuts(text)) {
      const { events, rest } = cut(chunks);
      assert.deepEqual(events, ['data: 1\n\n', 'event: x\ndata: 2\n\n', ': c\n\n', 'data: [DONE]\n\n']);
      assert.equal(rest, '');
    }
  });

  it('hands on whole events of CR LF lines, wherever the stream was cut', () => {
    const text = 'data: 1\r\n\r\nevent: x\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n';
    for (const chunks of cuts(text)) {
      const { events, rest } = cut(chunks);
      assert.deepEqual(
        events,
        ['data: 1\r\n\r\n', 'event: x\r\ndata: 2\r\n\r\n', 'data: 3\r\n\r\n'],
        chunks.join('|'),
      );
      assert.equal(rest, '');
    }
  });

  it('hands on whole events of CR lines without waiting for more', () => {
    for (const chunks of cuts('data: 1\r\rdata: 2\rid: 3\r\r')) {
      assert.deepEqual(cut(chunks).events, ['data: 1\r\r', 'data: 2\rid: 3\r\r'], chunks.join('|'));
    }
  });

  it('takes lines of all kinds in one stream', () => {
    const text = 'data: 1\n\ndata: 2\r\n\r\ndata: 3\r\rdata: 4\n\r\n';
    const { events } = cut([text]);
    assert.equal(events.join(''), text);
    assert.equal(events.length, 4);
  });

  it('keeps what has no blank line yet', () => {
    assert.deepEqual(cut(['data: 1\n\ndata: 2\n']), {
      events: ['data: 1\n\n'],
      rest: 'data: 2\n',
      fits: [true],
    });
  });

  it('does not copy an event that came in one chunk', () => {
    const seen: Uint8Array[] = [];
    const cutter = new SseCutter({ event: (bytes) => void seen.push(bytes) }, 1024);
    const chunk = Buffer.from('data: 1\n\n');
    cutter.push(chunk);
    assert.equal(seen[0], chunk);
  });

  it('C2: gives up on an event that grows without an end', () => {
    const { fits } = cut(['data: ', 'x'.repeat(600), 'x'.repeat(600)]);
    assert.deepEqual(fits, [true, true, false]);
  });

  it('does not count whole events as held', () => {
    assert.deepEqual(cut(['data: x\n\n'.repeat(1000)]).fits, [true]);
  });
});
