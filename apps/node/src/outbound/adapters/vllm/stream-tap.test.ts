import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamTap } from './stream-tap.ts';

function tapOf(options: { choices?: number; withholdUsage?: boolean } = {}) {
  const tap = new StreamTap({ where: 'upstream', choices: 1, withholdUsage: true, ...options });
  const see = (text: string) => {
    const bytes = Buffer.from(`xx${text}yy`);
    return tap.event(bytes, 2, bytes.length - 2);
  };
  return { tap, see };
}

const delta = (content: string, finish = 'null') =>
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":${finish}}],"usage":null}\n\n`;

describe('stream tap', () => {
  it('keeps ordinary chunks and knows that the answer is not whole yet', () => {
    const { tap, see } = tapOf();
    assert.equal(see(delta('hello')), 'keep');
    assert.equal(tap.isWhole, false);
  });

  it('is not fooled by content that looks like what it searches for', () => {
    const { tap, see } = tapOf();
    assert.equal(
      see(delta('"finish_reason":"stop","error":{"a":1},"usage":{"prompt_tokens":1} [DONE]')),
      'keep',
    );
    assert.equal(tap.isWhole, false);
    assert.equal(tap.usage, undefined);
    assert.equal(tap.failure, undefined);
  });

  it('reads the finish reason and calls the answer whole when every choice has one', () => {
    const { tap, see } = tapOf({ choices: 2 });
    see(delta('', '"stop"'));
    assert.equal(tap.isWhole, false);
    see(delta('', '"tool_calls"'));
    assert.equal(tap.isWhole, true);
    assert.equal(tap.finish, 'tool-calls');
  });

  it('withholds a chunk of usage only, unless it was asked for', () => {
    const chunk =
      'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}\n\n';
    const unasked = tapOf();
    assert.equal(unasked.see(chunk), 'withhold');
    assert.deepEqual(unasked.tap.usage, { promptTokens: 7, completionTokens: 5, estimated: false });
    assert.equal(tapOf({ withholdUsage: false }).see(chunk), 'keep');
  });

  it('keeps a chunk that has both a choice and usage', () => {
    const { tap, see } = tapOf();
    assert.equal(see('data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}\n\n'), 'keep');
    assert.equal(tap.usage?.promptTokens, 1);
  });

  it('takes [DONE] as the end, with and without a space', () => {
    for (const text of ['data: [DONE]\n\n', 'data:[DONE]\r\n\r\n']) {
      const { tap, see } = tapOf();
      assert.equal(see(text), 'done');
      assert.equal(tap.isWhole, true);
    }
  });

  it('reports both shapes of an error in the stream, and an event called error', () => {
    for (const text of [
      'data: {"error":{"message":"out of memory","type":"server_error","code":500}}\n\n',
      'data: {"object":"error","message":"out of memory","type":"x","param":null,"code":500}\n\n',
      'event: error\ndata: {"message":"out of memory"}\n\n',
      'data: {"error":"out of memory"}\n\n',
    ]) {
      const { tap, see } = tapOf();
      assert.equal(see(text), 'failed', text);
      assert.match(tap.failure?.message ?? '', /out of memory/);
      assert.equal(tap.failure?.retryable, true);
    }
  });

  it('does not offer a retry for an error that the caller made', () => {
    const { tap, see } = tapOf();
    see('data: {"error":{"message":"too long","type":"BadRequestError","code":400}}\n\n');
    assert.equal(tap.failure?.kind, 'invalid');
    assert.equal(tap.failure?.retryable, false);
    assert.equal(tap.failure?.upstream?.status, 400);
  });

  it('takes an error that says nothing for none, and so a finish reason', () => {
    for (const nothing of ['null', '""', 'false']) {
      const { tap, see } = tapOf();
      assert.equal(see(`data: {"choices":[{"finish_reason":${nothing}}],"error":${nothing}}\n\n`), 'keep');
      assert.equal(tap.isWhole, false);
    }
  });

  for (const text of [
    'data: {"choices":[{"delta":{"content":"hel\n\n',
    'data: {bad json}\n\n',
    'data: not json\n\n',
    'data: "a string"\n\n',
    'garbage without a field\n\n',
    'event: error\ndata: oops\n\n',
  ]) {
    it(`calls ${JSON.stringify(text)} malformed`, () => {
      const { tap, see } = tapOf();
      assert.equal(see(text), 'failed');
      assert.equal(tap.failure?.code, 'upstream.malformed');
    });
  }

  it('withholds comments and empty events', () => {
    const { see } = tapOf();
    for (const text of [': keep-alive\n\n', '\n', 'data:\n\n', 'id: 3\n\n'])
      assert.equal(see(text), 'withhold');
  });

  it('understands data over several lines and further fields', () => {
    const { tap, see } = tapOf();
    assert.equal(see('data: {"choices":[{"finish_reason":\ndata: "length"}]}\n\n'), 'keep');
    assert.equal(tap.finish, 'length');
    assert.equal(see('id: 1\nevent: message\ndata: {"choices":[]}\n\n'), 'keep');
  });
});
