import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRecordingSink } from '@iop/runtime/testing';
import { answerLines, cutLines, doneLine, line, openLines } from '../../../testing/fake-ollama.ts';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { createLab, createOllama, failureOf, textOf, toSpec } from './ollama-fixture.ts';

describe('ollama: an answer that breaks never looks whole (O2)', () => {
  for (const [how, play] of [
    ['cut in mid-line', cutLines(line('hello'), line(' wor').slice(0, 30))],
    ['ended properly in mid-line', answerLines(line('hello'), doneLine().slice(0, 40))],
    ['cut between lines', cutLines(line('hello'))],
    ['ended properly without a last line', answerLines(line('hello'))],
  ] as const) {
    it(how, async (test) => {
      const { run } = await createLab(test, play);
      const { events, end } = await run();
      assert.equal(textOf(events), 'hello');
      assert.deepEqual([failureOf(end).code, failureOf(end).retryable], ['upstream.cut', true]);
    });
  }

  it('by a line that is no JSON object', async (test) => {
    for (const bad of ['{"message":\n', '[1]\n', '<html>\n']) {
      const { run } = await createLab(test, answerLines(line('hello'), bad, doneLine()));
      assert.equal(failureOf((await run()).end).code, 'upstream.malformed');
    }
  });

  it('by a tool call that names no function', async (test) => {
    const { run } = await createLab(test, answerLines(line({ tool_calls: [{}] }), doneLine()));
    assert.equal(failureOf((await run()).end).code, 'upstream.malformed');
  });

  it('by a line without an end, of which no more than 4 MiB are held (O7)', async (test) => {
    const play: Play = async (exchange) => {
      openLines(exchange);
      const piece = 'x'.repeat(256 * 1024);
      while (!exchange.gone) if (!exchange.response.write(piece)) await sleep(1);
    };
    const { run, ollama } = await createLab(test, play);
    const failure = failureOf((await run()).end);
    assert.deepEqual([failure.code, failure.retryable], ['upstream.line-too-large', false]);
    await ollama.runs[0]?.over;
  });

  it('by an error after 200, also before any content (O3)', async (test) => {
    const broke = `${JSON.stringify({ error: 'an error was encountered while running the model' })}\n`;
    for (const before of [[], [line('hello')]]) {
      const { run } = await createLab(test, answerLines(...before, broke, doneLine()));
      const failure = failureOf((await run()).end);
      assert.deepEqual(
        [failure.code, failure.kind, failure.retryable],
        ['upstream.error', 'unavailable', true],
      );
      assert.match(failure.message, /ollama at 127\.0\.0\.1:\d+ reported an error: an error was encountered/);
    }
  });
});

describe('ollama: an upstream that refuses', () => {
  const said = async (test: Parameters<typeof createLab>[0], status: number, error: string) =>
    failureOf((await (await createLab(test, answerStatus(status, { error }))).run()).end);

  it('because its queue is full: exhausted, elsewhere at once, here after a second', async (test) => {
    const failure = await said(
      test,
      503,
      'server busy, please try again.  maximum pending requests exceeded',
    );
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['exhausted', 'upstream.queue-full', true],
    );
    assert.deepEqual([failure.upstream?.status, failure.upstream?.retryAfterMs], [503, 1000]);
  });

  it('with a Retry-After of its own', async (test) => {
    const { run } = await createLab(test, answerStatus(503, { error: 'busy' }, { 'retry-after': '7' }));
    assert.equal(failureOf((await run()).end).upstream?.retryAfterMs, 7000);
  });

  it('because it has no such model: says how to get it', async (test) => {
    const { run } = await createLab(test, () => {});
    const failure = failureOf((await run({ target: 'nope:7b' })).end);
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['not-found', 'upstream.model-missing', false],
    );
    assert.match(failure.message, /model 'nope:7b' not found; on that machine: ollama pull nope:7b/);
  });

  it('because the model cannot do it', async (test) => {
    const failure = await said(test, 400, 'registry.ollama.ai/library/m does not support tools');
    assert.deepEqual([failure.kind, failure.code], ['unsupported', 'upstream.unsupported']);
  });

  it('in JSON inside of its error, as its engine says it: in plain words', async (test) => {
    const inner = { error: { code: 400, message: 'model does not support multimodal requests', type: 'x' } };
    const failure = await said(test, 400, JSON.stringify(inner));
    assert.match(failure.message, /answered 400: model does not support multimodal requests$/);
  });

  it('because the prompt is too long, whatever the status: a matter of the request', async (test) => {
    for (const status of [400, 413, 500]) {
      const failure = await said(test, status, 'the input length exceeds the context length');
      assert.deepEqual(
        [failure.kind, failure.code, failure.retryable, failure.upstream],
        ['invalid', 'upstream.context-length', false, undefined],
      );
      assert.match(failure.message, /exceeds the context length; shorten it or raise num_ctx/);
    }
  });

  it('because somebody else cancelled: may be tried elsewhere', async (test) => {
    assert.equal((await said(test, 499, 'request canceled')).retryable, true);
  });

  it('nothing of a request that cannot be served reaches it', async (test) => {
    const { run, ollama } = await createLab(test, answerLines(doneLine()));
    assert.equal(failureOf((await run({ request: { n: 2 } })).end).details.param, 'n');
    assert.equal(ollama.runs.length, 0);
  });
});

describe('ollama: an upstream that takes its time', () => {
  it('may load for longer than it may be silent afterwards', async (test) => {
    const play: Play = async (exchange) => {
      await sleep(400);
      answerLines(line('loaded'), doneLine())(exchange);
    };
    const { run } = await createLab(test, play, { loadTimeoutMs: 10_000, idleTimeoutMs: 100 });
    const { events, end } = await run();
    assert.deepEqual([textOf(events), end.kind], ['loaded', 'completed']);
  });

  it('for ever: fails naming the option, and is closed', async (test) => {
    const { run, ollama } = await createLab(test, () => {}, { loadTimeoutMs: 100 });
    const failure = failureOf((await run()).end);
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['timeout', 'upstream.first-byte-timeout', true],
    );
    assert.match(failure.message, /loading.*see load_timeout/);
    await ollama.runs[0]?.over;
  });

  it('in mid-answer for longer than the idle time-out: stalled', async (test) => {
    const play: Play = (exchange) => {
      openLines(exchange);
      exchange.response.write(line('hello'));
    };
    const { run } = await createLab(test, play, { loadTimeoutMs: 60_000, idleTimeoutMs: 100 });
    assert.equal(failureOf((await run()).end).code, 'upstream.stalled');
  });

  it('is let go in the tick of a cancel, while it loads (O9)', async (test) => {
    const { start, ollama } = await createLab(test, () => {});
    const { stop, end, sink } = start();
    while (ollama.openRuns() === 0) await sleep(2);
    stop.abort('caller');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'caller' });
    await ollama.runs[0]?.over;
    assert.equal(ollama.runs[0]?.gone, true);
    assert.equal(sink.late.length, 0);
  });
});

describe('ollama: a prompt that was shortened (O8)', () => {
  const fills = answerLines(line('hm'), doneLine({ prompt_eval_count: 4096 }));
  const logOf = (events: readonly { kind: string; bytes?: Uint8Array }[]) =>
    events
      .flatMap(({ kind, bytes }) => (kind === 'log' ? [Buffer.from(bytes ?? []).toString()] : []))
      .join('');

  it('is asked not to be', async (test) => {
    const { run, ollama } = await createLab(test, answerLines(doneLine()), { numCtx: 8192 });
    await run();
    const { truncate, shift, options } = ollama.runs[0]?.json ?? {};
    assert.deepEqual([truncate, shift, options], [false, false, { num_ctx: 8192 }]);
  });

  it('by a server that does it all the same, is said: by num_ctx', async (test) => {
    const { run } = await createLab(test, fills, { numCtx: 4096 });
    const { events, end } = await run();
    assert.match(logOf(events), /whole context of 4096 tokens, so its beginning was probably cut off/);
    assert.equal(end.kind, 'completed');
  });

  it('or by what the model was loaded with', async (test) => {
    const play: Play = async (exchange) => {
      openLines(exchange);
      exchange.response.write(line('hm'));
      await sleep(100);
      exchange.response.end(doneLine({ prompt_eval_count: 4096 }));
    };
    const { run, ollama } = await createLab(test, play);
    ollama.models.set('m:latest', { loadedContext: 4096 });
    assert.match(logOf((await run()).events), /whole context of 4096 tokens/);
  });

  it('nothing is said of one that fits', async (test) => {
    const { run } = await createLab(test, fills, { numCtx: 8192 });
    assert.equal(logOf((await run()).events), '');
  });
});

it('ollama: one that is not there is unreachable, and may be retried', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const adapter = createOllama(`http://127.0.0.1:${port}`);
  const end = await adapter.execute(toSpec({}), createRecordingSink(), new AbortController().signal);
  const failure = failureOf(end);
  assert.deepEqual([failure.code, failure.retryable], ['upstream.unreachable', true]);
  await adapter.close();
});
