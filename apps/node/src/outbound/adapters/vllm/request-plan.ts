import type { RunEnd } from '@iop/domain';
import type { Dialect, ExecutionSpec } from '@iop/runtime';
import { spliceForm } from './multipart-model.ts';
import { resolveRawPath } from './raw-path.ts';
import { type RequestReading, spliceRequest } from './request-splice.ts';

/** What goes up for one run. */
export type RequestPlan =
  | {
      kind: 'planned';
      path: string;
      contentType: string;
      body: Uint8Array;
      reading: RequestReading;
      /** The upstream is asked for server-sent events. */
      streams: boolean;
    }
  | { kind: 'refused'; end: RunEnd };

export interface PlanOptions {
  /** Path of the configured address, without a slash at its end: `/v1`. */
  prefix: string;
  /** Of the target: whether a stream is asked for whatever the caller wants. */
  forceStream: boolean | undefined;
}

type ShapedDialect = Exclude<Dialect, 'openai.raw' | 'iop.prompt'>;

const paths: Readonly<Record<ShapedDialect, string>> = {
  'openai.chat': '/chat/completions',
  'openai.completions': '/completions',
  'openai.embeddings': '/embeddings',
};

const unread: RequestReading = { choices: 1, hasTools: false, wantsBase64: false };
const json = 'application/json';

/** The caller's bytes with the few values in them that have to be ours, and where they go. */
export function planRequest(spec: ExecutionSpec, options: PlanOptions): RequestPlan {
  if (spec.dialect === 'openai.raw') return planRaw(spec, options.prefix);
  return planShaped(spec, spec.dialect as ShapedDialect, options);
}

function planShaped(spec: ExecutionSpec, dialect: ShapedDialect, options: PlanOptions): RequestPlan {
  const isEmbedding = dialect === 'openai.embeddings';
  const forced = isEmbedding ? undefined : options.forceStream;
  const streams = !isEmbedding && (forced ?? spec.stream);
  const values = { model: spec.target, includeUsage: streams };
  const isChanged = forced !== undefined && forced !== spec.stream;
  const request = spliceRequest(spec.body, isChanged ? { ...values, stream: forced } : values);
  if (request.kind === 'invalid') return refused('request.invalid-json', request.message);
  const { body, kind: _, ...reading } = request;
  const path = options.prefix + paths[dialect];
  return { kind: 'planned', path, contentType: json, body, reading, streams };
}

function planRaw(spec: ExecutionSpec, prefix: string): RequestPlan {
  const { path: rawPath = '', contentType = '' } = spec.raw ?? {};
  const target = resolveRawPath(prefix, rawPath);
  if (target.kind === 'refused') return refused('request.raw-path', target.message);
  const type = contentType || json;
  const body = spliceRaw(spec, type);
  if (typeof body === 'string') return refused('request.raw-body', body);
  return { kind: 'planned', path: target.path, contentType: type, body, reading: unread, streams: false };
}

function spliceRaw({ body, target }: ExecutionSpec, contentType: string): Uint8Array | string {
  const mediaType = (contentType.split(';')[0] as string).trim().toLowerCase();
  if (!/^[\x20-\x7e]{1,300}$/.test(contentType)) return 'its content type is not one';
  if (mediaType === 'multipart/form-data') {
    const form = spliceForm(body, contentType, target);
    return form.kind === 'spliced' ? form.body : form.message;
  }
  if (mediaType !== json && !mediaType.endsWith('+json')) {
    return `a request of type ${mediaType} has no place for the model; JSON and multipart/form-data have`;
  }
  const request = spliceRequest(body, { model: target, includeUsage: false });
  return request.kind === 'spliced' ? request.body : request.message;
}

function refused(code: string, message: string): RequestPlan {
  const failure = { kind: 'invalid', code, message, details: {}, retryable: false } as const;
  return { kind: 'refused', end: { kind: 'failed', failure } };
}
