import { createLog, createMetrics, createSystemClock } from '@iop/shell';
import type { HttpConfig } from '../inbound/http/http-config.ts';
import { createHttpDoor } from '../inbound/http-door.ts';
import { createWireWorld, type WireWorld } from './wire-world.ts';

/** A whole Edge in this process with its HTTP port, and keys of every role. */
export interface ApiLab extends AsyncDisposable {
  readonly world: WireWorld;
  readonly url: string;
  readonly keys: Readonly<Record<'caller' | 'operator' | 'admin', string>>;
  /** With the key of an admin unless another is given; empty: none. */
  call(method: string, path: string, options?: CallOptions): Promise<Called>;
  /** The answer as it comes. */
  open(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export interface CallOptions {
  body?: unknown;
  key?: string;
  headers?: Readonly<Record<string, string>>;
}

export interface Called {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a program without our types sees
  json: any;
  headers: Headers;
}

export async function openApiLab(over: Partial<HttpConfig> = {}): Promise<ApiLab> {
  const world = await createWireWorld();
  const { edge } = world;
  const config: HttpConfig = {
    host: '127.0.0.1',
    port: 0,
    auth: 'keys',
    corsOrigins: [],
    bodyLimitBytes: 1024 * 1024,
    trustedProxies: [],
    basePath: '',
    ...over,
    times: { closeGraceMs: 5000, ...over.times },
  };
  const log = createLog({ name: 'lab', level: 'silent' });
  const metrics = createMetrics('iop_edge_');
  const door = createHttpDoor({ edge, operators: edge, config, log, metrics, clock: createSystemClock() });
  const { port } = await door.listen();
  const url = `http://127.0.0.1:${port}`;
  const keyOf = async (role: 'caller' | 'operator' | 'admin') => {
    const policy = { targets: [], concurrency: 0, rate: undefined, expiresAtMs: undefined, role };
    return (await edge.createKey(role, policy)).secret;
  };
  const keys = {
    caller: await keyOf('caller'),
    operator: await keyOf('operator'),
    admin: await keyOf('admin'),
  };
  return {
    world,
    url,
    keys,
    async call(method, path, { body, key = keys.admin, headers = {} } = {}) {
      const response = await fetch(`${url}/api/v1/${path}`, {
        method,
        headers: { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        json: text === '' ? undefined : JSON.parse(text),
        headers: response.headers,
      };
    },
    open: (path, headers = {}) =>
      fetch(`${url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${keys.operator}`, accept: 'text/event-stream', ...headers },
      }),
    close: () => door.close(),
    async [Symbol.asyncDispose]() {
      await door.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Whole server-sent events of an answer, as they come. */
export async function* readEvents(response: Response): AsyncGenerator<Record<string, string>> {
  if (response.body === null) throw new Error('the answer has no body');
  let held = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (held + chunk).split('\n\n');
    held = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n').filter((line) => !line.startsWith(':'));
      if (lines.length === 0) continue;
      yield Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)) as [string, string][]);
    }
  }
}
