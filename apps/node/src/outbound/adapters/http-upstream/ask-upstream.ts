import type { UpstreamPool } from './upstream-pool.ts';

export interface Question {
  method: 'GET' | 'POST';
  path: string;
  headers: readonly string[];
  /** Sent as JSON. */
  body?: unknown;
}

export interface Reply {
  status: number;
  text: string;
  /** Undefined: it was not JSON. */
  json: unknown;
}

const maxReplyBytes = 4 * 1024 * 1024;

/** Asks an upstream about itself: a short question with a short reply, no run. Rejects when none comes. */
export async function askUpstream(
  pool: UpstreamPool,
  question: Question,
  signal: AbortSignal,
): Promise<Reply> {
  const pooled = pool.acquire();
  const { body, ...request } = question;
  try {
    const sent = body === undefined ? null : JSON.stringify(body);
    const headers = [...request.headers];
    const answer = await pooled.client.request({ ...request, headers, body: sent, signal });
    const bytes = await readBounded(answer.body, question.path);
    pool.release(pooled);
    const text = bytes.toString();
    return { status: answer.statusCode, text, json: parseJson(text) };
  } catch (error) {
    pool.discard(pooled);
    throw error;
  }
}

async function readBounded(body: AsyncIterable<Buffer>, path: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxReplyBytes) throw new Error(`its answer to ${path} is larger than ${maxReplyBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
