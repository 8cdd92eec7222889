import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createManualClock, settle } from '@iop/link/testing';
import type { ExecutionSpec } from '@iop/runtime';
import { createRecordingSink } from '@iop/runtime/testing';
import { chatSpec } from '../../../testing/specs.ts';
import { createMockAdapter } from './mock-adapter.ts';
import { emptyScript, parseMockScript } from './mock-script.ts';

/** Runs to the end on a clock that moves whenever the mock waits. */
async function play(script: object | string, values: Partial<ExecutionSpec> & { prompt?: string } = {}) {
  const block = typeof script === 'string' ? script : `<mock>${JSON.stringify(script)}</mock>`;
  const spec = chatSpec('echo', { ...values, prompt: `${values.prompt ?? ''}${block}` });
  return playSpec(spec);
}

async function playSpec(spec: ExecutionSpec) {
  const clock = createManualClock();
  const startedAtMs = clock.now();
  const adapter = createMockAdapter({ name: 'mock', targets: new Map([['echo', undefined]]) }, { clock });
  const sink = createRecordingSink();
  let end: RunEnd | undefined;
  void adapter.execute(spec, sink, new AbortController().signal).then((result) => {
    end = result;
  });
  for (let i = 0; i < 10_000 && end === undefined; i++) {
    await settle();
    if (end === undefined && clock.nextAtMs !== undefined) clock.advance(clock.nextAtMs - clock.now());
  }
  if (end === undefined) throw new Error('the mock did not end');
  return { sink, end: end as RunEnd, tookMs: clock.now() - startedAtMs };
}

function chunksOf(text: string) {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')));
}

describe('mock: a streamed answer', () => {
  it('echoes word by word, as an OpenAI server would write it', async () => {
    const { sink, end } = await play('hello big  world');
    const chunks = chunksOf(sink.text());
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), 'hello big  world');
    assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '' });
    assert.deepEqual(chunks.at(-1).choices[0], {
      index: 0,
      delta: {},
      logprobs: null,
      finish_reason: 'stop',
    });
    assert.equal(
      new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model} ${chunk.object}`)).size,
      1,
    );
    assert.equal(chunks[0].object, 'chat.completion.chunk');
    assert.equal(chunks[0].model, 'echo');
    assert.ok(!sink.text().includes('[DONE]'), 'the door writes it');
    const usage = { promptTokens: 3, completionTokens: 3, estimated: false };
    assert.deepEqual(end, { kind: 'completed', finish: 'stop', usage });
  });

  it('adds a chunk of usage only when it was asked for', async () => {
    const { sink } = await play('a b', { includeUsage: true });
    const chunks = chunksOf(sink.text());
    assert.equal(chunks[0].usage, null);
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.deepEqual(chunks.at(-1).usage, { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 });
    assert.ok(chunksOf((await play('a b')).sink.text()).every((chunk) => !('usage' in chunk)));
  });

  it('is the same every time', async () => {
    const spec = chatSpec('echo', { prompt: '<mock>{"tool_calls":[{"name":"f"}]}</mock>' });
    assert.equal((await playSpec(spec)).sink.text(), (await playSpec(spec)).sink.text());
  });

  it('streams tool calls side by side, each with its own index and id', async () => {
    const { sink, end } = await play({
      tool_calls: [
        { name: 'a', arguments: { x: 1 }, pieces: 3 },
        { name: 'b', arguments: 'no json', id: 'call_b' },
      ],
    });
    const calls: { id: string; name: string; text: string }[] = [];
    for (const chunk of chunksOf(sink.text())) {
      for (const call of chunk.choices[0].delta.tool_calls ?? []) {
        if (call.id !== undefined) calls[call.index] = { id: call.id, name: call.function.name, text: '' };
        const known = calls[call.index];
        if (known !== undefined) known.text += call.function.arguments;
      }
    }
    assert.deepEqual(
      calls.map(({ name, text }) => [name, text]),
      [
        ['a', '{"x":1}'],
        ['b', 'no json'],
      ],
    );
    assert.equal(calls[1]?.id, 'call_b');
    assert.notEqual(calls[0]?.id, calls[1]?.id);
    assert.equal(end.kind === 'completed' && end.finish, 'tool-calls');
  });

  it('thinks before it answers, in the field that was asked for', async () => {
    for (const field of ['reasoning', 'reasoning_content']) {
      const { sink } = await play({ reasoning: 'let me see', text: 'yes', reasoning_field: field });
      const deltas = chunksOf(sink.text()).map((chunk) => chunk.choices[0].delta);
      assert.equal(deltas.map((delta) => delta[field] ?? '').join(''), 'let me see');
      assert.equal(deltas.map((delta) => delta.content ?? '').join(''), 'yes');
    }
  });

  it('gives as many choices as were asked for', async () => {
    const body = { n: 3, messages: [{ role: 'user', content: 'hi' }] };
    const { sink } = await playSpec(chatSpec('echo', { body: Buffer.from(JSON.stringify(body)) }));
    const chunks = chunksOf(sink.text());
    for (const index of [0, 1, 2]) {
      const own = chunks.filter((chunk) => chunk.choices[0].index === index);
      assert.equal(own.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), 'hi');
      assert.equal(own.at(-1)?.choices[0].finish_reason, 'stop');
    }
  });

  it('stops at max_tokens', async () => {
    const body = { max_tokens: 2, messages: [{ role: 'user', content: 'one two three' }] };
    const { sink, end } = await playSpec(chatSpec('echo', { body: Buffer.from(JSON.stringify(body)) }));
    assert.ok(!sink.text().includes('three'));
    assert.equal(end.kind === 'completed' && end.finish, 'length');
  });

  it('takes its time', async () => {
    const { tookMs } = await play({
      text: 'a b c',
      delay_ms: 1_000,
      pace_ms: 100,
      stall: { at: 1, ms: 500 },
    });
    assert.equal(tookMs, 1_700);
  });

  it('is as large as was asked for, in as many pieces', async () => {
    const { sink } = await play({ size: 100_000, chunks: 7 });
    const contents = chunksOf(sink.text()).map((chunk) => chunk.choices[0].delta.content ?? '');
    assert.equal(contents.join('').length, 100_000);
    assert.equal(contents.filter((content) => content !== '').length, 7);
  });
});

describe('mock: an answer in one piece', () => {
  it('is a whole chat completion', async () => {
    const script = {
      reasoning: 'hm',
      text: 'yes',
      tool_calls: [{ name: 'f', arguments: { a: 1 }, id: 'call_1' }],
    };
    const { sink, end } = await play(script, { stream: false });
    const answer = JSON.parse(sink.text());
    assert.equal(answer.object, 'chat.completion');
    assert.deepEqual(answer.choices[0], {
      index: 0,
      message: {
        role: 'assistant',
        content: 'yes',
        refusal: null,
        reasoning: 'hm',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    });
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
    assert.equal(end.kind, 'completed');
  });

  it('leaves nothing behind when it is cut or fails', async () => {
    for (const script of [
      { text: 'a b', cut: { at: 1 } },
      { text: 'a b', error: { at: 1 } },
    ]) {
      const { sink, end } = await play(script, { stream: false });
      assert.equal(end.kind, 'failed');
      assert.equal(sink.events.length, 0);
    }
  });

  it('can be garbage that is delivered', async () => {
    const { sink } = await play({ text: 'a b', malformed: { at: 1, deliver: true } }, { stream: false });
    assert.throws(() => JSON.parse(sink.text()));
  });
});

describe('mock: faults', () => {
  it('is cut after n pieces, or before the end when n is beyond it', async () => {
    for (const [at, words] of [
      [0, 0],
      [2, 2],
      [99, 4],
    ] as const) {
      const { sink, end } = await play({ text: 'a b c d', cut: { at } });
      assert.equal(end.kind === 'failed' && end.failure.code, 'upstream.cut');
      assert.equal(end.kind === 'failed' && end.failure.retryable, true);
      const contents = chunksOf(sink.text()).filter((chunk) => chunk.choices[0].delta.content?.trim());
      assert.equal(contents.length, words);
      assert.ok(!sink.text().includes('"finish_reason":"stop"'));
    }
  });

  it('fails with the status, body and time to wait that were asked for', async () => {
    const { sink, end } = await play({
      error: { status: 429, message: 'slow down', code: 'rate', retry_after_ms: 2_000 },
    });
    assert.equal(sink.events.length, 0);
    if (end.kind !== 'failed') assert.fail();
    const { kind, code, retryable, upstream } = end.failure;
    assert.deepEqual([kind, code, retryable], ['exhausted', 'upstream.status', true]);
    assert.equal(upstream?.status, 429);
    assert.equal(upstream?.retryAfterMs, 2_000);
    assert.deepEqual(JSON.parse(Buffer.from(upstream?.body ?? []).toString()), {
      error: { message: 'slow down', type: 'server_error', param: null, code: 'rate' },
    });
  });

  it('does not offer a retry after a 400 unless it is told to', async () => {
    const refused = await play({ error: { status: 400 } });
    assert.equal(refused.end.kind === 'failed' && refused.end.failure.retryable, false);
    const offered = await play({ error: { status: 400, retryable: true } });
    assert.equal(offered.end.kind === 'failed' && offered.end.failure.retryable, true);
  });

  it('sends garbage: refused as a real one would be, or delivered', async () => {
    const refused = await play({ text: 'a b', malformed: { at: 1 } });
    assert.equal(refused.end.kind === 'failed' && refused.end.failure.code, 'upstream.malformed');
    const delivered = await play({ text: 'a b', malformed: { at: 1, deliver: true } });
    assert.equal(delivered.end.kind, 'completed');
    assert.throws(() => chunksOf(delivered.sink.text()));
  });

  it('never tells its usage', async () => {
    const { sink, end } = await play({ text: 'a', usage: false }, { includeUsage: true });
    assert.ok(!sink.text().includes('prompt_tokens'));
    assert.equal(end.usage, undefined);
  });

  it('goes on for a while after a cancel, without a word', async () => {
    const clock = createManualClock();
    const adapter = createMockAdapter({ name: 'mock', targets: new Map([['echo', undefined]]) }, { clock });
    const stop = new AbortController();
    const sink = createRecordingSink();
    const prompt = '<mock>{"text":"a b c","pace_ms":10,"ignore_cancel_ms":3000}</mock>';
    let end: RunEnd | undefined;
    void adapter.execute(chatSpec('echo', { prompt }), sink, stop.signal).then((result) => {
      end = result;
    });
    await settle();
    const before = sink.events.length;
    stop.abort('operator');
    await settle();
    clock.advance(2_999);
    await settle();
    assert.equal(end, undefined);
    clock.advance(1);
    await settle();
    assert.deepEqual(end, { kind: 'cancelled', by: 'operator' });
    assert.equal(sink.events.length, before);
  });
});

describe('mock: what it is asked', () => {
  it('refuses a script that is wrong, saying where', async () => {
    const { sink, end } = await play({ txet: 'a' });
    assert.equal(end.kind === 'failed' && end.failure.kind, 'invalid');
    assert.match(end.kind === 'failed' ? end.failure.message : '', /txet/);
    assert.equal(sink.events.length, 0);
  });

  it('refuses a body that is no chat request', async () => {
    for (const body of ['{', '{}', '{"messages":[]}', '{"messages":"x"}', '3']) {
      const { end } = await playSpec(chatSpec('echo', { body: Buffer.from(body) }));
      assert.equal(end.kind === 'failed' && end.failure.kind, 'invalid', body);
    }
  });

  it('refuses a target that it does not have', async () => {
    const { end } = await playSpec(chatSpec('nope'));
    assert.equal(end.kind === 'failed' && end.failure.code, 'target.unknown');
  });

  it('reads the script from the last user message, also in parts', async () => {
    const messages = [
      { role: 'user', content: '<mock>{"text":"old"}</mock>' },
      { role: 'assistant', content: 'old' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<mock>{"text":' },
          { type: 'text', text: '"new"}</mock>' },
        ],
      },
      { role: 'tool', content: 'x' },
    ];
    const { sink } = await playSpec(chatSpec('echo', { body: Buffer.from(JSON.stringify({ messages })) }));
    assert.match(sink.text(), /"content":"new"/);
  });

  it('plays an agent a whole turn: calls, and what it says when the tools have answered', async () => {
    const content = '<mock>{"tool_calls":[{"name":"f"}],"after_tools":"done"}</mock>';
    const asked = [{ role: 'user', content }];
    const answered = [...asked, { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'x' }];
    const finish = async (messages: object[]) => {
      const body = Buffer.from(JSON.stringify({ messages }));
      const { sink } = await playSpec(chatSpec('echo', { body, stream: false }));
      return JSON.parse(sink.text()).choices[0];
    };
    assert.equal((await finish(asked)).finish_reason, 'tool_calls');
    assert.equal((await finish(answered)).finish_reason, 'stop');
    assert.equal((await finish(answered)).message.content, 'done');
    assert.equal((await finish([...answered, { role: 'user', content }])).finish_reason, 'tool_calls');
  });

  it('plays the script of its target unless the prompt has one', async () => {
    const clock = createManualClock();
    const parsed = parseMockScript('{"text":"configured"}');
    const script = parsed.kind === 'script' ? parsed.script : emptyScript;
    const adapter = createMockAdapter({ name: 'mock', targets: new Map([['flaky', script]]) }, { clock });
    const answer = async (prompt: string) => {
      const sink = createRecordingSink();
      await adapter.execute(chatSpec('flaky', { prompt }), sink, new AbortController().signal);
      return sink.text();
    };
    assert.match(await answer('hello'), /"configured"/);
    assert.match(await answer('<mock>{"text":"own"}</mock>'), /"own"/);
  });

  it('answers a plain prompt with plain events', async () => {
    const body = Buffer.from('hi <mock>{"reasoning":"hm","text":"a b"}</mock>');
    const { sink, end } = await playSpec(chatSpec('echo', { dialect: 'iop.prompt', body }));
    assert.deepEqual(sink.events, [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'a' },
      { kind: 'text', text: ' b' },
    ]);
    assert.equal(end.kind, 'completed');
  });
});
