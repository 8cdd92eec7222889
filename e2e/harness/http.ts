import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** One connection for each request, so that hanging up is the caller's own. */
const agent = new Agent({ keepAlive: false });

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Piece {
  text: string;
  at: number;
}

/** A request in the hands of a caller that may hang up. */
export interface Call {
  /** Status and headers; rejects when the connection breaks before. */
  readonly head: Promise<{ status: number; headers: IncomingHttpHeaders }>;
  /** Everything, or an error when the answer was cut off. */
  readonly answer: Promise<Answer>;
  /** What has arrived of the body. */
  readonly text: string;
  /** What arrived together, and when by `performance.now()`. */
  readonly pieces: readonly Piece[];
  /** Destroys the socket; gives the time at which it did. */
  hangUp(): number;
  pause(): void;
  resume(): void;
}

export interface CallInit {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** For callers that keep their connection; a new one for each call unless given. */
  agent?: Agent;
}

export function call(init: CallInit): Call {
  const pieces: Piece[] = [];
  const text = () => pieces.map((piece) => piece.text).join('');
  let response: IncomingMessage | undefined;
  const request = httpRequest(init.url, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: init.headers ?? {},
    agent: init.agent ?? agent,
  });
  request.setNoDelay(true);
  const message = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', (got) => {
      response = got;
      resolve(got);
    });
    request.on('error', reject);
  });
  const answer = message.then(async (got): Promise<Answer> => {
    got.setEncoding('utf8');
    got.on('data', (piece: string) => pieces.push({ text: piece, at: performance.now() }));
    await new Promise<void>((resolve, reject) => {
      got.on('end', resolve);
      got.on('error', reject);
      got.on('close', () => reject(new Error(`the answer was cut after: ${text().slice(-200)}`)));
    });
    return { status: got.statusCode ?? 0, headers: got.headers, text: text() };
  });
  const head = message.then((got) => ({ status: got.statusCode ?? 0, headers: got.headers }));
  for (const unseen of [answer, head]) unseen.catch(() => {}); // whoever hangs up does not look at them
  request.end(init.body);

  return {
    head,
    answer,
    get text() {
      return text();
    },
    pieces,
    hangUp() {
      request.destroy();
      return performance.now();
    },
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
  };
}
