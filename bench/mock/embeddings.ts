import { createRandom } from '../shuffle.ts';

/** Inputs × dimensions of the measured answer. */
export const embeddingShape = { inputs: 2048, dimensions: 1024 } as const;

type Format = 'float' | 'base64';
const made = new Map<Format, Buffer>();

/** A whole HTTP answer, made once: what an engine with a large batch gives. */
export function embeddingsAnswer(body: Buffer): Buffer {
  const format: Format = body.includes('"encoding_format":"base64"') ? 'base64' : 'float';
  const known = made.get(format) ?? makeAnswer(format);
  made.set(format, known);
  return known;
}

function makeAnswer(format: Format): Buffer {
  const random = createRandom(1);
  const data = Array.from({ length: embeddingShape.inputs }, (_, index) => {
    const values = Float32Array.from({ length: embeddingShape.dimensions }, () => random() * 2 - 1);
    return `{"object":"embedding","index":${index},"embedding":${formatVector(values, format)}}`;
  });
  const usage = '{"prompt_tokens":2048,"total_tokens":2048}';
  const text = `{"object":"list","data":[${data.join(',')}],"model":"bench","usage":${usage}}`;
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`;
  return Buffer.from(head + text, 'latin1');
}

function formatVector(values: Float32Array, format: Format): string {
  if (format === 'base64') return `"${Buffer.from(values.buffer).toString('base64')}"`;
  return `[${Array.from(values, (value) => value.toPrecision(8)).join(',')}]`;
}
