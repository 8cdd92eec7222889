import type { Dialect, EventSink, ExecutionSpec, FactName } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { toOllamaChat } from './chat-request.ts';
import { toOllamaGenerate } from './completion-request.ts';
import { EmbedAnswer } from './embed-answer.ts';
import { toOllamaEmbed } from './embed-request.ts';
import { LineAnswer } from './line-answer.ts';
import type { RequestOutcome, RequestSettings } from './ollama-request.ts';

export const ollamaDialects = [
  'openai.chat',
  'openai.completions',
  'openai.embeddings',
  'iop.prompt',
] as const;

/** A request that Ollama can be sent, and the reader of what it answers. */
export interface Route {
  path: string;
  body: Uint8Array;
  createAnswer(place: AnswerPlace): Answer;
}

export interface AnswerPlace {
  where: string;
  contextLength(): number | undefined;
  saw(fact: FactName): void;
  sink: EventSink;
  settle: Settle;
}

export type RouteOutcome = ({ kind: 'route' } & Route) | Extract<RequestOutcome, { kind: 'refused' }>;

/** Which of Ollama's own endpoints a run goes to; only of `ollamaDialects`. */
export function routeRun(spec: ExecutionSpec, settings: RequestSettings): RouteOutcome {
  return routes[spec.dialect]?.(spec, settings) ?? noSuchDialect(spec.dialect);
}

type Router = (spec: ExecutionSpec, settings: RequestSettings) => RouteOutcome;

const chat: Router = (spec, settings) => {
  const request = toOllamaChat(spec, settings);
  if (request.kind === 'refused') return request;
  const { body, textLength } = request;
  const own = { runId: spec.runId, fact: 'chat', echo: '', textLength } as const;
  return {
    kind: 'route',
    path: '/api/chat',
    body,
    createAnswer: (place) => new LineAnswer({ ...place, ...own }),
  };
};

const completion: Router = (spec, settings) => {
  const request = toOllamaGenerate(spec, settings);
  if (request.kind === 'refused') return request;
  const { body, textLength, echo } = request;
  const own = { runId: spec.runId, fact: 'completions', echo, textLength } as const;
  return {
    kind: 'route',
    path: '/api/generate',
    body,
    createAnswer: (place) => new LineAnswer({ ...place, ...own }),
  };
};

const embedding: Router = (spec, settings) => {
  const request = toOllamaEmbed(spec, settings);
  if (request.kind === 'refused') return request;
  const { body, textLength, shape } = request;
  return {
    kind: 'route',
    path: '/api/embed',
    body,
    createAnswer: (place) => new EmbedAnswer({ ...place, shape, textLength }),
  };
};

const routes: Partial<Record<Dialect, Router>> = {
  'openai.chat': chat,
  'iop.prompt': chat,
  'openai.completions': completion,
  'openai.embeddings': embedding,
};

function noSuchDialect(dialect: Dialect): RouteOutcome {
  const message = `an ollama adapter does not speak ${dialect}`;
  const failure = {
    kind: 'unsupported',
    code: 'request.unsupported',
    message,
    details: {},
    retryable: false,
  } as const;
  return { kind: 'refused', failure };
}
