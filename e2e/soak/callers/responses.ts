import { setTimeout as sleep } from 'node:timers/promises';
import type { RunState } from '@iop/domain';
import { type CallInit, call } from '../../harness/http.ts';
import type { Ask, Outcome } from '../history/ask.ts';
import type { Script } from '../history/script.ts';
import { wallMs } from '../wall.ts';
import { type Caller, codeIn, headersOf, newAsk, noteAsk, patienceMs } from './caller.ts';
import { maybeCancel } from './cancel.ts';
import { judgeResponse, judgeResponseStream } from './read-response.ts';
import { followThread, type Thread } from './thread.ts';

/** A response in the background: streamed and taken up again after a number, or asked after now and then. */
export async function askInBackground(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const stream = caller.random() < 0.6;
  const ask = newAsk(script, 'responses', { runClass: 'detached', stream, idempotencyKey: script.marker });
  const reading = stream ? followThread(caller, ask, responseThread(caller, script)) : poll(caller, ask);
  const cancelling = maybeCancel(caller, ask, (runId) => cancelResponse(caller, runId));
  noteAsk(caller, ask, await reading);
  await cancelling;
}

function responseThread(caller: Caller, script: Script): Thread {
  return {
    start: () => create(caller, script, true),
    resume(runId, text) {
      const last = text
        .match(/"sequence_number":(\d+)/g)
        ?.at(-1)
        ?.split(':')[1];
      const after = last === undefined ? '' : `&starting_after=${last}`;
      return { url: `${responseUrl(caller, runId)}?stream=true${after}`, headers: headersOf(caller) };
    },
    isOver: (text) => /^event: (response\.(completed|failed|incomplete)|error)$/m.test(text),
    judge: judgeResponseStream,
  };
}

function create(caller: Caller, { model, prompt, marker }: Script, stream: boolean): CallInit {
  return {
    url: `${caller.stage.edge.url}/v1/responses`,
    headers: headersOf(caller, { 'idempotency-key': marker }),
    body: JSON.stringify({ model, input: prompt, background: true, stream }),
  };
}

export function responseUrl({ stage }: Caller, runId: string): string {
  return `${stage.edge.url}/v1/responses/resp_${runId.slice('run_'.length)}`;
}

async function poll(caller: Caller, ask: Ask): Promise<Outcome> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const isKnown = ask.runId !== undefined;
    const init = isKnown
      ? { url: responseUrl(caller, ask.runId ?? ''), headers: headersOf(caller) }
      : create(caller, ask.script, false);
    const answer = await call(init).answer.catch(() => undefined);
    if (answer?.status === 200) {
      ask.connections = 1;
      ask.ackedAtMs ??= wallMs();
      ask.runId ??= `run_${(JSON.parse(answer.text) as { id: string }).id.slice('resp_'.length)}`;
      const outcome = judgeResponse(answer.text);
      if (outcome !== undefined) return outcome;
    } else if (answer !== undefined && (!isKnown || answer.status !== 503)) {
      return { kind: 'refused', status: answer.status, code: codeIn(answer.text) };
    }
    await sleep(50 + caller.random() * 300);
  }
  return { kind: 'stuck', content: '' };
}

async function cancelResponse(caller: Caller, runId: string): Promise<RunState> {
  const init = {
    url: `${responseUrl(caller, runId)}/cancel`,
    method: 'POST',
    headers: headersOf(caller),
    body: '',
  };
  const { status, text } = await call(init).answer;
  if (status !== 200) throw new Error(`the cancel was answered with ${status}: ${text}`);
  const said = (JSON.parse(text) as { status: string }).status;
  return said === 'in_progress' ? 'stopping' : said === 'incomplete' ? 'completed' : (said as RunState);
}
