import { setTimeout as sleep } from 'node:timers/promises';
import type { CallInit } from '../../harness/http.ts';
import type { Diary } from '../diary.ts';
import type { Ask, AskDoor, Outcome } from '../history/ask.ts';
import { modelNames, type Script, writeScript } from '../history/script.ts';
import { pickOne } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import { wallMs } from '../wall.ts';

/** One caller at work: asks, reads, writes down what it saw, asks again. */
export interface Caller {
  readonly name: string;
  readonly stage: Stage;
  readonly diary: Diary;
  readonly random: () => number;
  /** Its last ask led to no run: it takes its time before the next. */
  wasInVain: boolean;
  /** Of the next run. */
  nextScript(): Script;
}

/** Longer than anything may take: a run that waits for a Node, is lost, and is given up. */
export const patienceMs = 90_000;

export function makeCaller(
  name: string,
  rest: { stage: Stage; diary: Diary; random: () => number; seed: number },
): Caller {
  const { random, seed } = rest;
  let count = 0;
  return {
    name,
    ...rest,
    wasInVain: false,
    nextScript() {
      const dice = random();
      const model = dice < 0.15 ? 'say' : pickOne(modelNames.slice(0, 2), random);
      return writeScript(`sk${seed}-${name}-${count++}`, model, random);
    },
  };
}

/** Does one thing after another until it is told to stop. What it throws is a fault of the soak. */
export async function keepAsking(
  caller: Caller,
  askOnce: (caller: Caller) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await askOnce(caller);
    } catch (cause) {
      caller.diary.trouble(`caller ${caller.name}: ${cause instanceof Error ? cause.stack : cause}`);
    }
    await sleep((caller.wasInVain ? 300 : 20) + caller.random() * 250);
  }
}

/** What a caller knows of an ask before anything has come back. */
export function newAsk(script: Script, door: AskDoor, rest: Partial<Ask> = {}): Ask {
  return {
    script,
    door,
    runClass: 'attached',
    stream: true,
    idempotencyKey: undefined,
    startedAtMs: wallMs(),
    endedAtMs: 0,
    runId: undefined,
    ackedAtMs: undefined,
    connections: 0,
    cancel: undefined,
    outcome: { kind: 'cut', content: '' },
    ...rest,
  };
}

export function noteAsk(caller: Caller, ask: Ask, outcome: Outcome): void {
  caller.wasInVain = outcome.kind === 'refused' || outcome.kind === 'unheard';
  if (outcome.kind === 'unheard') return;
  ask.outcome = outcome;
  ask.endedAtMs = wallMs();
  caller.diary.asks.push(ask);
}

export function headersOf({ stage }: Caller, more: Record<string, string> = {}): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${stage.edge.apiKey}`, ...more };
}

export function chatBody({ model, prompt }: Script, stream: boolean): string {
  return JSON.stringify({
    model,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    messages: [{ role: 'user', content: prompt }],
  });
}

export function chatCall(caller: Caller, body: string, more: Record<string, string> = {}): CallInit {
  return { url: `${caller.stage.edge.url}/v1/chat/completions`, headers: headersOf(caller, more), body };
}

/** Nobody was there to take the connection: nothing was asked. */
export function wasRefused(cause: unknown): boolean {
  return (cause as { code?: unknown }).code === 'ECONNREFUSED';
}

export function codeIn(text: string): string {
  try {
    return String((JSON.parse(text) as { error?: { code?: unknown } }).error?.code ?? '');
  } catch {
    return '';
  }
}
