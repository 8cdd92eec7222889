import type { Agent } from 'node:http';
import type { Edge } from './edge.ts';
import { type Call, call } from './http.ts';

export interface ChatInit {
  model?: string;
  stream?: boolean;
  prompt?: string;
  /** Added to the body as it is. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  agent?: Agent;
}

/** A chat completion at the Edge's OpenAI door, with its key. */
export function chat(edge: Edge, init: ChatInit = {}): Call {
  const body = {
    model: init.model ?? 'm',
    stream: init.stream ?? false,
    messages: [{ role: 'user', content: init.prompt ?? 'hello' }],
    ...init.extra,
  };
  return call({
    url: `${edge.url}/v1/chat/completions`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${edge.apiKey}`, ...init.headers },
    body: JSON.stringify(body),
    ...(init.agent && { agent: init.agent }),
  });
}

/** A streamed answer, taken apart. */
export interface StreamReading {
  /** Joined deltas of content of the first choice. */
  content: string;
  finish: string | undefined;
  /** `[DONE]` was the last event. */
  done: boolean;
  error: { message: string; type: string; code: string | null; param: string | null } | undefined;
  /** All `data:` payloads in order, `[DONE]` included. */
  data: string[];
  usage: { prompt_tokens: number; completion_tokens: number } | undefined;
}

export function readStream(text: string): StreamReading {
  const data = text
    .split('\n\n')
    .map((event) => event.replace(/^id: \d+\n/, ''))
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
  const objects = data.filter((payload) => payload !== '[DONE]').map((payload) => parse(payload));
  const choices = objects.map((object) => object.choices?.[0]);
  return {
    content: choices.map((choice) => choice?.delta?.content ?? '').join(''),
    finish:
      choices.findLast((choice) => typeof choice?.finish_reason === 'string')?.finish_reason ?? undefined,
    done: data.at(-1) === '[DONE]',
    error: objects.find((object) => object.error !== undefined)?.error,
    data,
    usage:
      objects.findLast((object) => object.usage !== undefined && object.usage !== null)?.usage ?? undefined,
  };
}

interface Chunk {
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[];
  error?: NonNullable<StreamReading['error']>;
  usage?: StreamReading['usage'] | null;
}

function parse(payload: string): Chunk {
  try {
    return JSON.parse(payload) as Chunk;
  } catch {
    return {};
  }
}

export interface ChatJson {
  choices: { message: { content: string }; finish_reason: string }[];
  usage?: { prompt_tokens: number; completion_tokens: number };
  error?: { message: string; type: string; code: string | null; param: string | null };
}

/** The text of the answer, or a throw that shows what came instead. */
export function contentOf(text: string): string {
  const content = (JSON.parse(text) as ChatJson).choices?.[0]?.message.content;
  if (content === undefined) throw new Error(`no answer in ${text.slice(0, 500)}`);
  return content;
}
