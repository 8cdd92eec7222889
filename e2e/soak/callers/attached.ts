import { setTimeout as sleep } from 'node:timers/promises';
import { readStream } from '../../harness/chat.ts';
import { type Call, type CallInit, call } from '../../harness/http.ts';
import type { Ask, Outcome } from '../history/ask.ts';
import { wallMs } from '../wall.ts';
import { type Caller, chatBody, chatCall, newAsk, noteAsk, patienceMs, wasRefused } from './caller.ts';
import { judgeChat } from './read-answer.ts';

/** A chat whose caller waits for the answer. */
export async function askAttached(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const stream = caller.random() < 0.7;
  const ask = newAsk(script, 'chat', { stream });
  noteAsk(caller, ask, await readAnswer(ask, chatCall(caller, chatBody(script, stream))));
}

/** A chat whose caller goes: before the head, in mid-answer, sometimes too late. */
export async function askAndLeave(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const stream = caller.random() < 0.7;
  const ask = newAsk(script, 'chat', { stream });
  const asking = call(chatCall(caller, chatBody(script, stream)));
  const reading = settle(ask, asking);
  const leaving = sleep(caller.random() * 600).then((): Outcome => {
    const atMs = wallMs();
    asking.hangUp();
    return { kind: 'left', atMs, content: stream ? readStream(asking.text).content : '' };
  });
  noteAsk(caller, ask, await Promise.race([reading, leaving]));
  await leaving;
}

/** One answer, read to its end. */
export function readAnswer(ask: Ask, init: CallInit): Promise<Outcome> {
  return settle(ask, call(init));
}

async function settle(ask: Ask, asking: Call): Promise<Outcome> {
  const impatience = setTimeout(() => asking.hangUp(), patienceMs);
  const since = performance.now();
  const sofar = () => (ask.stream ? readStream(asking.text).content : '');
  try {
    const { headers } = await asking.head;
    ask.connections++;
    ask.runId ??= runIdOf(headers);
    const { text, status } = await asking.answer;
    return judgeChat(text, { status, stream: ask.stream });
  } catch (cause) {
    if (wasRefused(cause)) return { kind: 'unheard' };
    const isStuck = performance.now() - since >= patienceMs;
    return { kind: isStuck ? 'stuck' : 'cut', content: sofar() };
  } finally {
    clearTimeout(impatience);
  }
}

export function runIdOf(headers: Record<string, unknown>): string | undefined {
  const id = headers['x-iop-run'];
  return typeof id === 'string' ? id : undefined;
}
