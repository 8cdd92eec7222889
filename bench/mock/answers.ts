import { encodeFrame, frameSizeBytes } from '../http/frame.ts';

const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
const chunk = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1760000000, model: 'bench' };

/** Found in every whole answer, so that a client can tell it from an error page. */
export const answerMark = 'the whole answer of the mock';

export const jsonAnswer = json({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1760000000,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: answerMark }, finish_reason: 'stop' }],
  usage,
});

export const modelsAnswer = json({
  object: 'list',
  data: [{ id: 'bench', object: 'model', created: 1760000000, owned_by: 'bench' }],
});

export const notFoundAnswer = json(
  { error: { message: 'not here', type: 'invalid_request_error' } },
  '404 Not Found',
);

export function json(value: unknown, status = '200 OK'): Buffer {
  const body = JSON.stringify(value);
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
  );
}

export const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
);

const frameHead = `${frameSizeBytes.toString(16)}\r\n`;

/** One content frame as one HTTP chunk. */
export function frameChunk(index: number, stampUs: number, heldUs: number): string {
  return `${frameHead}${encodeFrame({ index, stampUs, heldUs })}\r\n`;
}

/** A chunk of so much text, which says nothing of when it was written. */
export function paddingChunk(sizeBytes: number): string {
  const delta = { content: 'y'.repeat(sizeBytes) };
  const text = `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
export const streamFoot = foot([finish]);
export const streamFootWithUsage = foot([finish, { choices: [], usage }]);

function foot(parts: readonly object[]): Buffer {
  const events = parts.map((part) => `data: ${JSON.stringify({ ...chunk, ...part })}\n\n`).join('');
  const text = `${events}data: [DONE]\n\n`;
  return Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`);
}
