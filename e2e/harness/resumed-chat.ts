import { setTimeout as sleep } from 'node:timers/promises';
import type { Edge } from './edge.ts';
import { type Answer, type Call, call } from './http.ts';

/** A stream of a run that outlives its connection, put together over as many connections as it takes. */
export interface ResumedChat {
  readonly runId: string | undefined;
  /** Whole events that have arrived. */
  readonly text: string;
  /** Connections so far. */
  readonly connections: number;
  /** Ends the connection that there is; the next one goes on after the last whole event. */
  cut(): void;
  /** Everything up to and with `[DONE]`. */
  readonly whole: Promise<string>;
}

/** Asks once, by an idempotency key, and comes back until the stream has ended. */
export function resumedChat(edge: Edge, prompt: string, key: string): ResumedChat {
  let text = '';
  let runId: string | undefined;
  let current: Call | undefined;
  let connections = 0;

  async function connect(): Promise<void> {
    connections++;
    const asking = call({ ...(runId === undefined ? start(edge, prompt, key) : resume(edge, runId, text)) });
    current = asking;
    const head = await asking.head;
    if (head.status === 200) runId ??= String(head.headers['x-iop-run']);
    await asking.answer.catch(() => {});
    if (head.status === 200) text += wholeEvents(asking.text);
  }

  async function read(): Promise<string> {
    const until = performance.now() + 120_000;
    while (!/^data: \[DONE\]$/m.test(text)) {
      if (performance.now() > until) throw new Error(`the stream did not end; it has ${text.slice(-300)}`);
      if (/^data: \{"error"/m.test(text)) throw new Error(`the stream failed: ${text.slice(-300)}`);
      await connect().catch(() => sleep(50));
    }
    return text;
  }

  return {
    get runId() {
      return runId;
    },
    get text() {
      return text + wholeEvents(current?.text ?? '');
    },
    get connections() {
      return connections;
    },
    cut: () => void current?.hangUp(),
    whole: read(),
  };
}

function start(edge: Edge, prompt: string, key: string) {
  const body = { model: 'echo', stream: true, messages: [{ role: 'user', content: prompt }] };
  return {
    url: `${edge.url}/v1/chat/completions`,
    headers: { ...auth(edge), 'x-iop-on-disconnect': 'continue', 'idempotency-key': key },
    body: JSON.stringify(body),
  };
}

function resume(edge: Edge, runId: string, text: string) {
  const last =
    text
      .match(/^id: (\d+)$/gm)
      ?.at(-1)
      ?.slice('id: '.length) ?? '0';
  return {
    url: `${edge.url}/v1/chat/completions/${runId}`,
    headers: { ...auth(edge), 'last-event-id': last },
  };
}

/** The whole answer of a run, as who finds it later is shown it. */
export function resumeText(edge: Edge, runId: string): Promise<Answer> {
  return call(resume(edge, runId, '')).answer;
}

function auth(edge: Edge): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${edge.apiKey}` };
}

/** Without comments, and without what was cut in the middle. */
function wholeEvents(text: string): string {
  return text.slice(0, text.lastIndexOf('\n\n') + 2).replaceAll(/^: .*\n\n/gm, '');
}
