import type { ExecutionSpec } from '@iop/runtime';

let count = 0;

/** A streaming chat request for `target`, unless `values` say otherwise. */
export function chatSpec(
  target: string,
  values: Partial<ExecutionSpec> & { prompt?: string } = {},
): ExecutionSpec {
  const { prompt = 'hello', ...rest } = values;
  const stream = rest.stream ?? true;
  const body = { model: 'public-name', messages: [{ role: 'user', content: prompt }], stream };
  return {
    runId: `run_${String(++count).padStart(26, '0')}`,
    attempt: 1,
    adapter: 'test',
    target,
    dialect: 'openai.chat',
    body: Buffer.from(JSON.stringify(body)),
    stream,
    includeUsage: false,
    ...rest,
  };
}
