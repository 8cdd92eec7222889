import type { RunEnd } from '@iop/domain';
import type { EventSink, ExecutionSpec } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { ErrorAnswer } from '../http-upstream/error-answer.ts';
import { type Headers, one, parseRetryAfter } from '../http-upstream/upstream-error.ts';
import { fault } from '../http-upstream/upstream-fault.ts';
import { AssembledAnswer } from './assembled-answer.ts';
import { EmbeddingConverter } from './embedding-converter.ts';
import { HeadSink } from './head-sink.ts';
import { JsonAnswer } from './json-answer.ts';
import { RawAnswer } from './raw-answer.ts';
import type { RequestReading } from './request-splice.ts';
import { RetoldAnswer } from './retold-answer.ts';
import type { RunWatch } from './run-watch.ts';
import { StreamAnswer } from './stream-answer.ts';

/** Lists of vectors get large: 2,048 of 1,024 floats have 40 MB as JSON. */
const heldEmbeddingBytes = 256 * 1024;

/** Everything that decides how an answer is read. */
export interface AnswerContext {
  spec: ExecutionSpec;
  reading: RequestReading;
  /** The upstream was asked for server-sent events. */
  streams: boolean;
  sink: EventSink;
  settle: Settle;
  watch: RunWatch;
  /** The server, for messages. */
  where: string;
  /** Milliseconds since 1970. */
  nowMs: number;
}

/** The reader of an answer, by its head. */
export function chooseAnswer(context: AnswerContext, status: number, headers: Headers): Answer {
  const { where, streams, settle, nowMs } = context;
  const type = one(headers['content-type']) ?? '';
  const encoding = one(headers['content-encoding']) ?? 'identity';
  // Nobody asked for it, so nobody here can read it.
  if (encoding !== 'identity') settle(malformed(`${where} sent an answer in ${encoding}`));
  const isUnexpectedJson = streams && type.includes('application/json');
  if (status < 200 || status > 299 || isUnexpectedJson) {
    return new ErrorAnswer({ where, status, retryAfterMs: parseRetryAfter(headers, nowMs), settle });
  }
  if (context.spec.dialect === 'openai.raw') return rawAnswer(context, type, headers);
  return streams ? streamAnswer(context) : wholeAnswer(context, headers);
}

function streamAnswer({ spec, reading, sink, settle, watch, where }: AnswerContext): Answer {
  const { dialect } = spec;
  // A completion may have many prompts, each with its own choices: only `[DONE]` says that it is whole.
  const choices = dialect === 'openai.completions' ? Number.POSITIVE_INFINITY : reading.choices;
  const withholdUsage = spec.stream && !spec.includeUsage;
  const init = { dialect, tap: { where, choices, withholdUsage, watch }, sink, settle };
  return spec.stream ? new StreamAnswer(init) : new AssembledAnswer(init);
}

function wholeAnswer(context: AnswerContext, headers: Headers): Answer {
  const { spec, reading, sink, settle, watch, where } = context;
  const init = { dialect: spec.dialect, where, sink, settle, watch, isFramed: isFramed(headers) };
  if (spec.dialect !== 'openai.embeddings') {
    return spec.stream ? new RetoldAnswer(init, spec.includeUsage) : new JsonAnswer(init);
  }
  const converter = new EmbeddingConverter(reading.wantsBase64 ? 'base64' : 'float');
  return new JsonAnswer({ ...init, converter, maxHeldBytes: heldEmbeddingBytes });
}

/** JSON is held until it is seen to be whole, so that another Node may still try; the rest cannot be. */
function rawAnswer(context: AnswerContext, type: string, headers: Headers): Answer {
  const { settle, where } = context;
  const sink = new HeadSink(context.sink, type || 'application/octet-stream');
  const init = { where, sink, settle, isFramed: isFramed(headers) };
  if (!/^application\/json\b/i.test(type)) return new RawAnswer(init);
  return new JsonAnswer({ ...init, dialect: 'openai.raw', takesAnyJson: true });
}

/** HTTP says where the body ends, so that a cut can be told from an end. */
function isFramed(headers: Headers): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function malformed(message: string): RunEnd {
  return { kind: 'failed', failure: fault('unavailable', 'upstream.malformed', message) };
}
