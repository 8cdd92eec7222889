import { call } from '../../harness/http.ts';
import { wholeEvents } from '../callers/thread.ts';
import type { Ask } from '../history/ask.ts';
import type { Stage } from '../stage.ts';

/** Every stream that was put together out of pieces is asked for once more, in one piece. */
export async function addReplays({ edge }: Stage, asks: readonly Ask[]): Promise<void> {
  for (const { door, runId, outcome } of asks) {
    if (!('transcript' in outcome) || outcome.transcript?.kind !== 'bytes' || runId === undefined) continue;
    const path =
      door === 'chat'
        ? `chat/completions/${runId}`
        : `responses/resp_${runId.slice('run_'.length)}?stream=true`;
    const headers = { authorization: `Bearer ${edge.apiKey}` };
    const { status, text } = await call({ url: `${edge.url}/v1/${path}`, headers }).answer;
    // What failed before it said anything is a status, but an event to whoever had been given headers after 10 s.
    outcome.transcript.replay = status === 200 ? wholeEvents(text) : `data: ${text}\n\n`;
  }
}
