import { setTimeout as sleep } from 'node:timers/promises';
import {
  connectOperator,
  followRun,
  type OperatorAddress,
  type OperatorClient,
  type RunUpdate,
  toEventJson,
} from '@iop/client';
import type { RunEnd } from '@iop/domain';
import { readStream } from '../../harness/chat.ts';
import { readToken } from '../../harness/edge.ts';
import { operatorClock } from '../../harness/operator.ts';
import type { Ask, Outcome, SeenEvent } from '../history/history.ts';
import { pickOne } from '../schedule.ts';
import { nodeNames, type Stage } from '../stage.ts';
import { wallMs } from '../wall.ts';
import { type Caller, chatBody, newAsk, noteAsk, patienceMs } from './caller.ts';
import { maybeCancel } from './cancel.ts';

/** An operator starts a run that needs nobody, and two look on: one from the start, one over a link that is cut. */
export async function operate(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const ask = newAsk(script, 'operator', { runClass: 'detached', idempotencyKey: script.marker });
  const refused = await start(caller, ask);
  if (refused !== undefined) return noteAsk(caller, ask, refused);
  const { runId = '' } = ask;
  const cancelling = maybeCancel(caller, ask, (id) =>
    withOperator(caller.stage, (client) => client.cancelRun(id)),
  );
  const other = newAsk(script, 'operator', { runClass: 'detached', idempotencyKey: script.marker, runId });
  const cutting = new AbortController();
  const watches = Promise.all([
    watch(caller, ask, localAddress(caller.stage)).then((outcome) => noteAsk(caller, ask, outcome)),
    watch(caller, other, remoteAddress(caller.stage)).then((outcome) => noteAsk(caller, other, outcome)),
  ]);
  const cuts = cutNowAndThen(caller, cutting.signal);
  await watches;
  cutting.abort();
  await Promise.all([cancelling, cuts]);
}

async function start(caller: Caller, ask: Ask): Promise<Outcome | undefined> {
  const { script } = ask;
  const adapter =
    script.model === 'm'
      ? `vllm-${pickOne(nodeNames, caller.random)}`
      : script.model === 'say'
        ? 'cli'
        : 'mock';
  const order = {
    adapter,
    target: script.model,
    dialect: 'openai.chat',
    body: Buffer.from(chatBody(script, true)),
    stream: true,
    includeUsage: true,
    idempotencyKey: script.marker,
  };
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      const { runId } = await withOperator(caller.stage, (client) => client.startDetached(order));
      Object.assign(ask, { runId, ackedAtMs: wallMs(), connections: 1 });
      return undefined;
    } catch (cause) {
      const code = String((cause as { code?: unknown }).code ?? cause);
      if (!isLinkTrouble(code)) return { kind: 'refused', status: 0, code };
      if (performance.now() > until) return { kind: 'stuck', content: '' };
      await sleep(100 + caller.random() * 200);
    }
  }
}

/** The request may or may not have arrived. */
function isLinkTrouble(code: string): boolean {
  return !/^(node\.|queue\.|target\.|run\.)/.test(code);
}

async function watch(caller: Caller, ask: Ask, address: OperatorAddress): Promise<Outcome> {
  const events: SeenEvent[] = [];
  const giveUp = AbortSignal.timeout(patienceMs);
  const reading = { raw: '', text: '' };
  const follow = followRun(ask.runId ?? '', 0, {
    connect: (signal) => connectPatiently(address, AbortSignal.any([signal, giveUp])),
    clock: operatorClock,
    random: caller.random,
    signal: giveUp,
  });
  try {
    for await (const update of follow) {
      if (update.kind === 'end') return outcomeOf(update.end, reading, events);
      take(update, reading, events);
    }
    return { kind: 'stuck', content: contentOf(reading) };
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? cause);
    return { kind: 'refused', status: 0, code };
  }
}

function take(update: RunUpdate, reading: { raw: string; text: string }, events: SeenEvent[]): void {
  if (update.kind === 'gap') events.push({ pos: update.fromPos, print: 'gap' });
  if (update.kind !== 'event') return;
  const json = toEventJson(update.event);
  events.push({ pos: update.pos, print: JSON.stringify(json) });
  if (json.kind === 'raw') reading.raw += json.data;
  if (json.kind === 'text') reading.text += json.text;
}

function contentOf({ raw, text }: { raw: string; text: string }): string {
  return raw === '' ? text : readStream(raw).content;
}

function outcomeOf(
  end: RunEnd,
  reading: { raw: string; text: string },
  events: readonly SeenEvent[],
): Outcome {
  const content = contentOf(reading);
  const transcript = { kind: 'events', afterPos: 0, events } as const;
  if (end.kind !== 'completed') {
    const code = end.kind === 'failed' ? end.failure.code : `cancelled-by-${end.by}`;
    return { kind: 'broken', content, code, transcript };
  }
  const usage = end.usage && { prompt: end.usage.promptTokens, completion: end.usage.completionTokens };
  return { kind: 'whole', content, usage, transcript };
}

/** The first link of a watch must come about; an Edge that restarts has none for a while. */
async function connectPatiently(address: OperatorAddress, signal: AbortSignal): Promise<OperatorClient> {
  for (;;) {
    try {
      return await connectOperator(
        { address, name: 'soak', build: 'e2e', clock: operatorClock },
        AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
      );
    } catch (cause) {
      if (signal.aborted) throw cause;
      await sleep(100);
    }
  }
}

export async function withOperator<T>(stage: Stage, use: (client: OperatorClient) => Promise<T>): Promise<T> {
  using client = await connectPatiently(localAddress(stage), AbortSignal.timeout(20_000));
  return await use(client);
}

function localAddress({ edge }: Stage): OperatorAddress {
  return { kind: 'unix', path: edge.socketPath };
}

function remoteAddress({ edge, operatorProxy }: Stage): OperatorAddress {
  const token = () => readToken(edge.operatorTokenFile);
  return { kind: 'tcp', host: '127.0.0.1', port: operatorProxy.port, tls: true, pins: [edge.pin], token };
}

async function cutNowAndThen({ stage, random }: Caller, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(200 + random() * 1_500, undefined, { signal }).catch(() => {});
    if (random() < 0.4) stage.operatorProxy.cutAll();
  }
}
