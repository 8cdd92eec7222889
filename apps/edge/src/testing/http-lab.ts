import type { Clock } from '@iop/domain';
import { createLog, createMetrics, createSystemClock } from '@iop/shell';
import type { HttpConfig, HttpTimes } from '../inbound/http/http-config.ts';
import { createHttpDoor } from '../inbound/http-door.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createScriptedEdge, goodKey, type ScriptedEdge } from './scripted-edge.ts';

/** A real HTTP port before a scripted Edge. */
export interface HttpLab extends AsyncDisposable {
  readonly edge: ScriptedEdge;
  readonly port: number;
  readonly url: string;
  /** `POST /v1/chat/completions` with the good key. */
  chat(body: unknown, headers?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>;
  /** A body that is no object and no text goes as it is. */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Response>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export interface LabOptions extends Partial<Omit<HttpConfig, 'times'>> {
  times?: Partial<HttpTimes>;
  /** Default: the real one. */
  clock?: Clock;
}

export const bearer = { authorization: `Bearer ${goodKey}` };
export const hello = { model: 'qwen', messages: [{ role: 'user', content: 'hello' }] };

export async function openHttpLab({
  times,
  clock = createSystemClock(),
  ...options
}: LabOptions = {}): Promise<HttpLab> {
  const edge = createScriptedEdge();
  const config: HttpConfig = {
    host: '127.0.0.1',
    port: 0,
    auth: 'keys',
    corsOrigins: [],
    bodyLimitBytes: 1024 * 1024,
    trustedProxies: [],
    basePath: '',
    ...options,
    times: { closeGraceMs: 500, ...times },
  };
  const log = createLog({ name: 'lab', level: 'silent' });
  const door = createHttpDoor({ edge, config, log, metrics: createMetrics('iop_edge_'), clock });
  const { port } = await door.listen();
  const url = `http://127.0.0.1:${port}`;
  const post: HttpLab['post'] = (path, body, headers, signal) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      ...(signal !== undefined && { signal }),
      headers: { ...bearer, ...(body instanceof FormData ? {} : json), ...headers },
      body: isReady(body) ? body : JSON.stringify(body),
    });
  return {
    edge,
    port,
    url,
    post,
    chat: (body, headers, signal) => post('/v1/chat/completions', body, headers, signal),
    get: (path, headers = bearer) => fetch(`${url}${path}`, { headers }),
    close: () => door.close(),
    [Symbol.asyncDispose]: () => door.close(),
  };
}

const json = { 'content-type': 'application/json' };

function isReady(body: unknown): body is string | FormData | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
}

/** Time that stands still until the test moves it; the end of a tick is the real one. */
export function createHttpClock(): ManualClock {
  const clock = createManualClock();
  return Object.assign(clock, { soon: (callback: () => void) => process.nextTick(callback) });
}
