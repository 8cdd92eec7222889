import type { ExecutionSpec } from '@iop/runtime';
import {
  type RequestOutcome,
  type RequestSettings,
  type Translate,
  translateRequest,
} from './ollama-request.ts';
import { type Fields, isSet, type ProblemList } from './problem-list.ts';

/** How the answer to a request for embeddings is to look. */
export interface EmbedShape {
  /** The name that the caller asked for. */
  model: string;
  format: 'float' | 'base64';
  /** How many vectors. */
  count: number;
  /** Numbers in each; undefined: as many as the model gives. */
  dimensions: number | undefined;
}

export type EmbedOutcome = RequestOutcome & { shape: EmbedShape };

/** The request of a run as the body of `POST /api/embed`, or all that is wrong with it. */
export function toOllamaEmbed(spec: ExecutionSpec, settings: RequestSettings): EmbedOutcome {
  const { target, body: bytes } = spec;
  const shape: EmbedShape = { model: target, format: 'float', count: 0, dimensions: undefined };
  const translate: Translate = (body, problems) => {
    const input = toInput(body.input, problems);
    shape.count = input.length;
    shape.format = toFormat(body, problems);
    shape.dimensions = toDimensions(body, problems);
    if (typeof body.model === 'string' && body.model !== '') shape.model = body.model;
    // O8: an error instead of the vector of half a text.
    const fields: Record<string, unknown> = { input, truncate: false };
    if (shape.dimensions !== undefined) fields.dimensions = shape.dimensions;
    return { fields, textLength: input.reduce((length, text) => length + text.length, 0) };
  };
  return { ...translateRequest({ bytes, target, settings }, translate), shape };
}

function toInput(input: unknown, problems: ProblemList): string[] {
  const list: unknown[] = Array.isArray(input) ? input : [input];
  if (list.some((part) => typeof part === 'number' || Array.isArray(part))) {
    problems.unsupported('input', 'Ollama takes texts, not tokens');
    return [];
  }
  if (list.length > 0 && list.every((text) => typeof text === 'string' && text !== ''))
    return list as string[];
  problems.invalid('input', 'a text or an array of texts, none of them empty');
  return [];
}

function toFormat({ encoding_format: format }: Fields, problems: ProblemList): EmbedShape['format'] {
  if (!isSet(format) || format === 'float') return 'float';
  if (format !== 'base64') problems.invalid('encoding_format', 'float or base64');
  return 'base64';
}

function toDimensions({ dimensions }: Fields, problems: ProblemList): number | undefined {
  if (!isSet(dimensions)) return undefined;
  if (Number.isSafeInteger(dimensions) && (dimensions as number) > 0) return dimensions as number;
  problems.invalid('dimensions', 'an integer of at least 1');
  return undefined;
}
