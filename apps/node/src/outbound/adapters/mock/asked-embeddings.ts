import type { ExecutionSpec } from '@iop/runtime';
import { type Asked, countWords, plain, readBody, readTexts, toCount } from './asked.ts';

const defaultDimensions = 64;
const maxDimensions = 8192;
const maxInputs = 16_384;

export function readEmbeddings(spec: ExecutionSpec): Asked | string {
  const body = readBody(spec);
  if (typeof body === 'string') return body;
  const inputs = readTexts(body.input);
  if (inputs === undefined || inputs.length > maxInputs)
    return `input: expected a text or tokens, or up to ${maxInputs} of them`;
  const dimensions = toCount(body.dimensions, maxDimensions) ?? defaultDimensions;
  return {
    ...plain,
    prompt: inputs.at(-1) ?? '',
    promptTokens: inputs.reduce((sum, one) => sum + countWords(one), 0),
    embeddings: { inputs, dimensions, isBase64: body.encoding_format === 'base64' },
  };
}
