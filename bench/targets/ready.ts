import { sleep } from '../load/sleep.ts';
import { answerMark } from '../mock/answers.ts';
import type { Target } from './target.ts';

const limitMs = 60_000;

/** Up when it has passed on a whole answer. */
export async function awaitReady(target: Target): Promise<void> {
  let last = 'nothing was tried';
  for (const untilMs = performance.now() + limitMs; performance.now() < untilMs; await sleep(50)) {
    last = await tryOnce(target);
    if (last === '') return;
  }
  throw new Error(`${target.name} was not ready after ${limitMs} ms: ${last}`);
}

/** @returns what was wrong; empty when nothing was */
async function tryOnce({ place }: Target): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${place.port}${place.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...place.headers },
      body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'ready?' }] }),
      signal: AbortSignal.timeout(5000),
    });
    const text = await response.text();
    return response.ok && text.includes(answerMark) ? '' : `${response.status} ${text.slice(0, 300)}`;
  } catch (error) {
    return String(error);
  }
}
