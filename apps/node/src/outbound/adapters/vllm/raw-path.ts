/**
 * Where a raw request goes, decided anew on the Node: whatever an Edge or a caller says, nothing but a
 * path below the configured server can come out (F22).
 */
export type RawTarget = { kind: 'path'; path: string } | { kind: 'refused'; message: string };

/** Served at the server's root by vLLM, llama.cpp and SGLang, not below /v1. */
const rootPaths: ReadonlySet<string> = new Set([
  'tokenize',
  'detokenize',
  'apply-template',
  'infill',
  'pooling',
  'classify',
]);

/** They change the server itself, or answer for all its callers: never for the caller of a run. */
const serverPaths: ReadonlySet<string> = new Set([
  'load_lora_adapter',
  'unload_lora_adapter',
  'lora-adapters',
  'models/load',
  'models/unload',
  'props',
  'slots',
  'sleep',
  'wake_up',
  'pause',
  'resume',
  'collective_rpc',
  'reset_prefix_cache',
  'abort_requests',
]);

const longestPath = 200;
const segment = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/;

/**
 * @param prefix path of the configured address, for example `/v1`
 * @param rawPath of the caller, below it: `rerank`, `audio/speech`
 */
export function resolveRawPath(prefix: string, rawPath: string): RawTarget {
  const isPath = rawPath.length <= longestPath && rawPath.split('/').every((part) => segment.test(part));
  if (!isPath) {
    const message = `${JSON.stringify(rawPath.slice(0, longestPath))} is not a path such as audio/speech`;
    return { kind: 'refused', message };
  }
  if (serverPaths.has(rawPath.toLowerCase())) {
    return { kind: 'refused', message: `${rawPath} is for whoever runs the server, not for its callers` };
  }
  const base = rootPaths.has(rawPath) ? prefix.replace(/\/v1$/, '') : prefix;
  return { kind: 'path', path: `${base}/${rawPath}` };
}
