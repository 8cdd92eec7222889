import type { RunState } from '@iop/domain';
import { call } from '../../harness/http.ts';
import { type Caller, chatBody, chatCall, headersOf, newAsk, noteAsk } from './caller.ts';
import { maybeCancel } from './cancel.ts';
import { judgeStream } from './read-answer.ts';
import { followThread, type Thread } from './thread.ts';

/** A chat that goes on without its caller, who comes back by `Last-Event-ID`. */
export async function askDetachedChat(caller: Caller): Promise<void> {
  const script = caller.nextScript();
  const key = script.marker;
  const ask = newAsk(script, 'chat', { runClass: 'detached', idempotencyKey: key });
  const following = followThread(caller, ask, chatThread(caller, chatBody(script, true), key));
  const cancelling = maybeCancel(caller, ask, (runId) => cancelChat(caller, runId));
  noteAsk(caller, ask, await following);
  await cancelling;
}

export function chatThread(caller: Caller, body: string, key: string): Thread {
  return {
    start: () => chatCall(caller, body, { 'x-iop-on-disconnect': 'continue', 'idempotency-key': key }),
    resume: (runId, text) => ({
      url: `${caller.stage.edge.url}/v1/chat/completions/${runId}`,
      headers: headersOf(caller, { 'last-event-id': lastId(text) }),
    }),
    isOver: (text) => /^data: (\[DONE\]$|\{"error")/m.test(text),
    judge: judgeStream,
  };
}

function lastId(text: string): string {
  return (
    text
      .match(/^id: (\d+)$/gm)
      ?.at(-1)
      ?.slice('id: '.length) ?? '0'
  );
}

async function cancelChat(caller: Caller, runId: string): Promise<RunState> {
  const url = `${caller.stage.edge.url}/v1/chat/completions/${runId}/cancel`;
  const { status, text } = await call({ url, method: 'POST', headers: headersOf(caller), body: '' }).answer;
  if (status !== 200) throw new Error(`the cancel was answered with ${status}: ${text}`);
  return (JSON.parse(text) as { status: RunState }).status;
}
