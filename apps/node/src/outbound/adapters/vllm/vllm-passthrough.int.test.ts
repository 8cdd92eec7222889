import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerStatus,
  answerStream,
  chunk,
  completion,
  done,
  openStream,
  type Play,
  usageChunk,
} from '../../../testing/scripted-upstream.ts';
import { createLab } from './vllm-fixture.ts';

describe('vllm: what goes up', () => {
  it('is the body of the caller but for the model and the wish for usage', async (test) => {
    const { upstream, run } = await createLab(test, answerStream([chunk('', 'stop'), done]));
    const body =
      '{ "model":"public", "seed":12345678901234567890, "messages":[{"role":"user","content":"\\u00e9"}] }';
    await run({ body: Buffer.from(body) });
    const seen = upstream.exchanges[0];
    const asked = '"stream_options":{"include_usage":true},';
    assert.equal(seen?.body.toString(), `{${asked}${body.slice(1).replace('"public"', '"model"')}`);
    assert.equal(seen?.path, '/v1/chat/completions');
    assert.equal(seen?.headers['content-type'], 'application/json');
    assert.equal(seen?.headers['accept-encoding'], 'identity');
    assert.equal(seen?.headers.authorization, undefined);
  });

  it('asks for no usage when nothing is streamed', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, completion('hi')));
    await run({ stream: false });
    assert.equal(upstream.exchanges[0]?.json.stream_options, undefined);
  });

  it('carries the key of the configuration and the id of the run', async (test) => {
    const { upstream, start } = await createLab(test, answerStream([chunk('', 'stop'), done]), {
      apiKey: 'secret',
    });
    const { spec, end } = start();
    await end;
    assert.equal(upstream.exchanges[0]?.headers.authorization, 'Bearer secret');
    assert.equal(upstream.exchanges[0]?.headers['x-request-id'], spec.runId);
  });

  it('goes to the path of its dialect', async (test) => {
    const { upstream, run } = await createLab(
      test,
      answerStatus(200, { object: 'list', data: [], usage: { prompt_tokens: 4 } }),
    );
    const { end } = await run({ stream: false, dialect: 'openai.embeddings' });
    assert.equal(upstream.exchanges[0]?.path, '/v1/embeddings');
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 4, completionTokens: 0, estimated: false },
    });
  });

  it('is refused when it is not JSON, without asking the upstream', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, {}));
    const { end } = await run({ body: Buffer.from('{"model":') });
    assert.equal(end.kind === 'failed' && end.failure.kind, 'invalid');
    assert.equal(upstream.exchanges.length, 0);
  });

  it('leaves on a connection that was used before', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, completion('hi')));
    for (let i = 0; i < 5; i++) await run({ stream: false });
    assert.equal(upstream.openSockets(), 1);
  });
});

describe('vllm: what comes down', () => {
  it('is the bytes of the upstream, [DONE] and unasked usage excepted', async (test) => {
    const events = [chunk('hello'), ': ping\n\n', chunk(' "world"\\n'), chunk('', 'length')];
    const { run } = await createLab(test, answerStream([...events, usageChunk, done]));
    const { sink, end } = await run();
    assert.equal(sink.text(), events.filter((event) => !event.startsWith(':')).join(''));
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'length',
      usage: { promptTokens: 3, completionTokens: 2, estimated: false },
    });
  });

  it('includes the usage chunk when it was asked for', async (test) => {
    const { run } = await createLab(test, answerStream([chunk('', 'stop'), usageChunk, done]));
    const { sink } = await run({ includeUsage: true });
    assert.ok(sink.text().endsWith(usageChunk));
  });

  it('keeps reasoning, tool calls and unknown fields as they are', async (test) => {
    const odd = [
      'data: {"choices":[{"index":0,"delta":{"content":null,"reasoning":"hm"},"finish_reason":null}],"timings":{"x":1.50}}\n\n',
      'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\\"a"}}]}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","stop_reason":null}]}\n\n',
    ];
    const { run } = await createLab(test, answerStream([...odd, done]));
    const { sink, end } = await run();
    assert.equal(sink.text(), odd.join(''));
    assert.equal(end.kind === 'completed' && end.finish, 'tool-calls');
  });

  it('is the same however the upstream cuts it, and with CR LF', async (test) => {
    const whole = [chunk('é€😀'), chunk('b'), chunk('', 'stop')].join('').replaceAll('\n', '\r\n');
    const bytes = Buffer.from(`${whole}data: [DONE]\r\n\r\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
      bytes.subarray(i * 7, i * 7 + 7),
    );
    const { run } = await createLab(test, answerStream(pieces, 1));
    const { sink, end } = await run();
    assert.equal(sink.text(), whole);
    assert.equal(end.kind, 'completed');
  });

  it('is whole with a finish reason, also without [DONE]', async (test) => {
    const { run } = await createLab(test, answerStream([chunk('a'), chunk('', 'stop')]));
    assert.equal((await run()).end.kind, 'completed');
  });

  it('completes a last event that has no blank line', async (test) => {
    const last = chunk('', 'stop').trimEnd();
    const { run } = await createLab(test, answerStream([chunk('a'), last]));
    const { sink, end } = await run();
    assert.equal(end.kind, 'completed');
    assert.ok(sink.text().endsWith(`${last}\n\n`));
  });

  it('ends at [DONE] even if the upstream keeps the answer open', async (test) => {
    const play: Play = (exchange) => {
      openStream(exchange);
      exchange.response.write(chunk('', 'stop') + done);
    };
    const { run } = await createLab(test, play);
    assert.equal((await run()).end.kind, 'completed');
  });

  it('waits for every choice that was asked for', async (test) => {
    const { run } = await createLab(
      test,
      answerStream([chunk('a', null, 0), chunk('', 'stop', 0), chunk('b', null, 1)]),
    );
    const body = Buffer.from('{"model":"x","n":2,"messages":[]}');
    assert.equal((await run({ body })).end.kind, 'failed');
  });

  it('gives an event that is larger than a frame in pieces that belong together', async (test) => {
    const large = chunk('x'.repeat(200_000));
    const { run } = await createLab(test, answerStream([chunk('a'), large, chunk('', 'stop'), done]));
    const { sink, end } = await run();
    assert.equal(end.kind, 'completed');
    assert.equal(sink.text(), chunk('a') + large + chunk('', 'stop'));
    const marks = sink.events.map((event) => event.kind === 'raw' && event.more);
    assert.deepEqual(marks, [false, true, true, true, false, false]);
  });

  it('is the JSON body as it came when nothing is streamed', async (test) => {
    const text = `  ${JSON.stringify(completion('hi', { big: 'y'.repeat(150_000) }))}\n`;
    const { run } = await createLab(test, answerStatus(200, text));
    const { sink, end } = await run({ stream: false });
    assert.equal(sink.text(), text);
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 3, completionTokens: 2, estimated: false },
    });
    assert.ok(sink.events.length >= 3);
  });

  it('passes on a body too large to hold as it comes', async (test) => {
    const text = JSON.stringify(completion('z'.repeat(9 * 1024 * 1024)));
    const { run } = await createLab(test, answerStatus(200, text));
    const { sink, end } = await run({ stream: false });
    assert.equal(end.kind, 'completed');
    assert.equal(sink.sizeBytes, text.length);
  });

  it('is text for a caller that gave a plain prompt', async (test) => {
    const reasoning = 'data: {"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}\n\n';
    const call =
      'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}}]}\n\n';
    const { upstream, run } = await createLab(
      test,
      answerStream([reasoning, chunk('hello'), call, chunk('', 'stop'), done]),
    );
    const { sink, end } = await run({ dialect: 'iop.prompt', body: Buffer.from('say "hi"') });
    assert.deepEqual(upstream.exchanges[0]?.json.messages, [{ role: 'user', content: 'say "hi"' }]);
    assert.deepEqual(sink.events, [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'hello' },
      { kind: 'tool-call', index: 0, id: 'c1', name: 'f', argumentsJson: '' },
    ]);
    assert.equal(end.kind, 'completed');
  });
});
