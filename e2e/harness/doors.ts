import type { Edge } from './edge.ts';
import { eventually } from './eventually.ts';
import { type Call, call } from './http.ts';
import { openOperator } from './operator.ts';
import { apiDoor, operatorDoor } from './operator-doors.ts';

export const doorNames = ['chat', 'responses', 'operator', 'api'] as const;
export type DoorName = (typeof doorNames)[number];

/** A detached run, and the connection of whoever started it. */
export interface DetachedRun {
  readonly runId: string;
  /** Ends the connection of whoever started it and looks at it. */
  hangUp(): void;
}

export interface DetachedAsk {
  prompt: string;
  stream?: boolean;
  /** Idempotency key. */
  key?: string;
}

/** One way in. Its callers all have the same key, so that a run of one is theirs at the others. */
export interface Door {
  readonly name: DoorName;
  /** The answer as it is; an operator's refusal as the status that it is elsewhere. */
  post(ask: DetachedAsk): Promise<{ status: number; runId: string }>;
  /** Starts a detached run, and looks at it. */
  start(ask: DetachedAsk): Promise<DetachedRun>;
  /** The state that it answers with. */
  cancel(runId: string): Promise<string>;
}

export interface Doors extends Record<DoorName, Door> {
  /** Secret of the callers, who are operators. */
  readonly secret: string;
}

/** Where models are asked for by name, and where by adapter and target. */
export interface Served {
  model: string;
  adapter: string;
  target: string;
}

export async function openDoors(edge: Edge, served: Served): Promise<Doors> {
  const operator = await openOperator(edge);
  const secret = await operator.createKey('doors', 'operator');
  operator.close();
  const http = { edge, served, secret };
  return {
    secret,
    chat: chatDoor(http),
    responses: responsesDoor(http),
    operator: operatorDoor(http),
    api: apiDoor(http),
  };
}

/** How a door is reached. */
export interface Way {
  edge: Edge;
  served: Served;
  secret: string;
}

interface Sending {
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

export function send({ edge, secret }: Pick<Way, 'edge' | 'secret'>, { path, body, headers }: Sending): Call {
  return call({
    url: `${edge.url}${path}`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const keyHeader = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key };

export async function jsonOf<T>(asking: Call): Promise<T> {
  const { status, text } = await asking.answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return JSON.parse(text) as T;
}

export function chatBody(model: string, { prompt, stream = true }: DetachedAsk): object {
  return { model, stream, messages: [{ role: 'user', content: prompt }] };
}

function chatDoor(way: Way): Door {
  const path = '/v1/chat/completions';
  const ask = (asked: DetachedAsk) =>
    send(way, {
      path,
      body: chatBody(way.served.model, asked),
      headers: { 'x-iop-on-disconnect': 'continue', ...keyHeader(asked.key) },
    });
  return {
    name: 'chat',
    async post(asked) {
      const { status, headers } = await ask(asked).answer;
      return { status, runId: String(headers['x-iop-run'] ?? '') };
    },
    // its head comes with the first event only
    start: (asked) => newRun(way.edge, () => ask(asked)),
    cancel: async (runId) =>
      (await jsonOf<{ status: string }>(send(way, { path: `${path}/${runId}/cancel`, body: {} }))).status,
  };
}

function responsesDoor(way: Way): Door {
  const path = '/v1/responses';
  const ask = ({ prompt, stream = true, key }: DetachedAsk) =>
    send(way, {
      path,
      body: { model: way.served.model, background: true, stream, input: prompt },
      headers: keyHeader(key),
    });
  return {
    name: 'responses',
    async post(asked) {
      const { status, headers } = await ask({ ...asked, stream: false }).answer;
      return { status, runId: String(headers['x-iop-run'] ?? '') };
    },
    start: (asked) => newRun(way.edge, () => ask(asked)),
    async cancel(runId) {
      const cancelling = send(way, { path: `${path}/${toResponseId(runId)}/cancel`, body: {} });
      return (await jsonOf<{ status: string }>(cancelling)).status;
    },
  };
}

export const toResponseId = (runId: string): string => runId.replace('run_', 'resp_');

/** What is not there before is there after. */
async function newRun(edge: Edge, ask: () => Call): Promise<DetachedRun> {
  const known = new Set((await edge.runs()).map((run) => run.runId));
  const asking = ask();
  const runId = await eventually('the run is there', 5_000, async () =>
    (await edge.runs()).map((run) => run.runId).find((id) => !known.has(id)),
  );
  return { runId, hangUp: () => void asking.hangUp() };
}
