import { followRun, type OperatorAddress, type RunUpdate, toEventJson } from '@iop/client';
import type { RunEnd } from '@iop/domain';
import { readStream } from '../../harness/chat.ts';
import { operatorClock } from '../../harness/operator.ts';
import type { Ask, Outcome, SeenEvent } from '../history/ask.ts';
import { type Caller, patienceMs } from './caller.ts';
import { connectPatiently } from './link-operator.ts';

/** Looks at a run from its first event to its end, over as many links as it takes. */
export async function watchRun(caller: Caller, ask: Ask, address: OperatorAddress): Promise<Outcome> {
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
