/** The shape of a request body and of the raw events that answer it. */
export const dialects = [
  'openai.chat',
  'openai.completions',
  'openai.embeddings',
  /** Anything with a `model`, passed on as it came to `ExecutionSpec.raw.path`. */
  'openai.raw',
  'iop.prompt',
] as const;
export type Dialect = (typeof dialects)[number];

export function isDialect(text: string): text is Dialect {
  return (dialects as readonly string[]).includes(text);
}

/** One execution, resolved: what `router.resolve()` gives and `adapter.execute()` takes. */
export interface ExecutionSpec {
  runId: string;
  /** Counts dispatches of this run, from 1. */
  attempt: number;
  adapter: string;
  target: string;
  dialect: Dialect;
  /** The caller's bytes, exactly as they came. `iop.prompt`: plain UTF-8 text. */
  body: Uint8Array;
  /** The caller wants server-sent events; false: one JSON body. */
  stream: boolean;
  /** The caller asked for `stream_options.include_usage` itself; if not, usage is read but withheld. */
  includeUsage: boolean;
  /** Present exactly if `dialect` is `openai.raw`. */
  raw?: RawRequest;
}

/** A request whose shape nobody here knows. */
export interface RawRequest {
  /** Below /v1, without a leading slash and without a query: `rerank`, `audio/speech`. */
  path: string;
  contentType: string;
}
