import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask, Outcome } from '../history/ask.ts';
import { pickOne } from '../schedule.ts';
import { nodeNames } from '../stage.ts';
import { wallMs } from '../wall.ts';
import { type Caller, chatBody, newAsk, noteAsk, patienceMs } from './caller.ts';
import { maybeCancel } from './cancel.ts';
import { localAddress, remoteAddress, withOperator } from './link-operator.ts';
import { watchRun } from './watch-run.ts';

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
    watchRun(caller, ask, localAddress(caller.stage)).then((outcome) => noteAsk(caller, ask, outcome)),
    watchRun(caller, other, remoteAddress(caller.stage)).then((outcome) => noteAsk(caller, other, outcome)),
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

async function cutNowAndThen({ stage, random }: Caller, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(200 + random() * 1_500, undefined, { signal }).catch(() => {});
    if (random() < 0.4) stage.operatorProxy.cutAll();
  }
}
