import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../history/ask.ts';
import type { Script } from '../history/script.ts';
import { readAnswer } from './attached.ts';
import { type Caller, chatBody, chatCall, newAsk, noteAsk } from './caller.ts';

const mostTries = 6;

/** Asks for one thing several times at once and again after failures, by one idempotency key. */
export async function askRepeatedly(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const isDetached = caller.random() < 0.4;
  const stream = caller.random() < 0.7;
  const repeat = () => tryUntilAnswered(caller, script, { isDetached, stream });
  await Promise.all([repeat(), sleep(caller.random() * 300).then(repeat)]);
  if (caller.random() < 0.5) await repeat();
}

interface How {
  isDetached: boolean;
  stream: boolean;
}

async function tryUntilAnswered(caller: Caller, script: Script, { isDetached, stream }: How): Promise<void> {
  const headers = {
    'idempotency-key': script.marker,
    ...(isDetached && { 'x-iop-on-disconnect': 'continue' }),
  };
  const body = chatBody(script, stream);
  for (let tries = 0; tries < mostTries; tries++) {
    const ask = newAsk(script, 'chat', {
      runClass: isDetached ? 'detached' : 'attached',
      stream,
      idempotencyKey: script.marker,
    });
    const outcome = await readAnswer(ask, chatCall(caller, body, headers));
    noteAsk(caller, ask, outcome);
    if (!mayTryAgain(outcome)) return;
    await sleep(50 + caller.random() * 400);
  }
}

function mayTryAgain(outcome: Outcome): boolean {
  return (
    outcome.kind === 'cut' ||
    outcome.kind === 'unheard' ||
    outcome.kind === 'broken' ||
    (outcome.kind === 'refused' && outcome.status >= 500)
  );
}
