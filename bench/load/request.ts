import { formatScript, type Script } from '../mock/script.ts';
import type { Place } from './messages.ts';

const prose = 'Answer as briefly as you can and say which machine of the house did the work. ';

/** A chat request whose body has exactly `bodyBytes` bytes (or the fewest that fit). */
export function chatRequest(place: Place, bodyBytes: number, script?: Script): Buffer {
  const start = script === undefined ? '' : `${formatScript(script)} `;
  const bare = chatBody(start, script !== undefined);
  const padding = Math.max(0, bodyBytes - bare.length);
  const text = start + prose.repeat(Math.ceil(padding / prose.length)).slice(0, padding);
  return httpPost(place, chatBody(text, script !== undefined));
}

function chatBody(content: string, stream: boolean): string {
  const messages = [{ role: 'user', content }];
  return JSON.stringify(stream ? { model: 'bench', stream, messages } : { model: 'bench', messages });
}

export function httpPost(place: Omit<Place, 'pids'>, body: string): Buffer {
  const headers = Object.entries({
    host: `127.0.0.1:${place.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...place.headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${place.path} HTTP/1.1\r\n${headers.join('')}\r\n${body}`);
}
