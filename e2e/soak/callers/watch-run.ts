import { setTimeout as sleep } from 'node:timers/promises';
import { followRun, type OperatorAddress, type RunUpdate, toEventJson } from '@iop/client';
import { type RunEnd, toIopError } from '@iop/domain';
import { readStream } from '../../harness/chat.ts';
import { operatorClock } from '../../harness/operator.ts';
import type { Ask, Outcome, SeenEvent } from '../history/ask.ts';
import { type Caller, patienceMs } from './caller.ts';
import { connectPatiently } from './link-operator.ts';

/** Looks at a run from its first event to its end, over as many links as it takes. */
export async function watchRun(caller: Caller, ask: Ask, address: OperatorAddress): Promise<Outcome> {
  const events: SeenEvent[] = [];
  const reading = { raw: '', text: '' };
  const giveUp = AbortSignal.timeout(patienceMs);
  while (!giveUp.aborted) {
    try {
      const end = await follow(caller, { runId: ask.runId ?? '', address, signal: giveUp }, (update) =>
        take(update, reading, events),
      );
      if (end !== undefined) return outcomeOf(end, reading, events);
    } catch (cause) {
      const { kind, code } = toIopError(cause);
      // a watch whose first link is lost is not taken up again by itself
      if (kind !== 'unavailable' || events.length > 0) return { kind: 'refused', status: 0, code };
      await sleep(100 + caller.random() * 200);
    }
  }
  return { kind: 'stuck', content: contentOf(reading) };
}

interface Watch {
  runId: string;
  address: OperatorAddress;
  signal: AbortSignal;
}

/** Undefined: it was given up before the end. */
async function follow(
  { random }: Caller,
  { runId, address, signal }: Watch,
  onUpdate: (update: RunUpdate) => void,
): Promise<RunEnd | undefined> {
  const connect = (patience: AbortSignal) => connectPatiently(address, AbortSignal.any([patience, signal]));
  for await (const update of followRun(runId, 0, { connect, clock: operatorClock, random, signal })) {
    if (update.kind === 'end') return update.end;
    onUpdate(update);
  }
  return undefined;
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
