import type { ExecutionSpec } from '@iop/runtime';
import { refuseRows, toFormat, toThink, type UnsupportedRow } from './chat-extras.ts';
import {
  type RequestOutcome,
  type RequestSettings,
  type Translate,
  translateRequest,
} from './ollama-request.ts';
import { type Fields, isFields, isSet, type ProblemList } from './problem-list.ts';

export type CompletionOutcome = RequestOutcome & {
  /** What the answer begins with, because the caller asked for its prompt again. */
  echo: string;
};

/** The request of a run as the body of `POST /api/generate`, or all that is wrong with it. */
export function toOllamaGenerate(spec: ExecutionSpec, settings: RequestSettings): CompletionOutcome {
  const { target, body: bytes } = spec;
  let echo = '';
  const translate: Translate = (body, problems) => {
    refuseRows(unsupportedRows, body, problems);
    const prompt = toPrompt(body.prompt, problems);
    if (readFlag('echo', body, problems)) echo = prompt;
    return { fields: toFields(body, { prompt, settings, problems }), textLength: prompt.length };
  };
  return { ...translateRequest({ bytes, target, settings }, translate), echo };
}

interface Parts {
  prompt: string;
  settings: RequestSettings;
  problems: ProblemList;
}

function toFields(body: Fields, { prompt, settings, problems }: Parts): Record<string, unknown> {
  // O8, as for a chat.
  const fields: Record<string, unknown> = { prompt, stream: true, truncate: false, shift: false };
  if (typeof body.suffix === 'string') {
    if (body.suffix !== '') fields.suffix = body.suffix;
  } else if (isSet(body.suffix)) problems.invalid('suffix', 'a string');
  if (readFlag('raw', body, problems)) fields.raw = true;
  const format = toFormat(body, problems);
  if (format !== undefined) fields.format = format;
  // A completion has no place for thoughts: by itself a model would think them all the same, unseen.
  const think = toThink(body, problems) ?? settings.think ?? (settings.thinks ? false : undefined);
  if (think !== undefined) fields.think = think;
  return fields;
}

/** One text: what OpenAI takes besides, many texts and tokens, Ollama does not. */
function toPrompt(prompt: unknown, problems: ProblemList): string {
  const list: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (list.some((part) => typeof part === 'number' || Array.isArray(part))) {
    problems.unsupported('prompt', 'Ollama takes text, not tokens');
  } else if (list.length > 1) {
    problems.unsupported('prompt', `one text can be completed at a time, not ${list.length}; ask for each`);
  } else if (typeof list[0] !== 'string' || list[0] === '') {
    // Ollama takes an empty prompt as the wish to load the model, or to unload it.
    problems.invalid('prompt', 'a text that is not empty');
  }
  return typeof list[0] === 'string' ? list[0] : '';
}

function readFlag(param: string, body: Fields, problems: ProblemList): boolean {
  const value = body[param];
  if (isSet(value) && typeof value !== 'boolean') problems.invalid(param, 'true or false');
  return value === true;
}

const isAnything = () => true;

const unsupportedRows: readonly UnsupportedRow[] = [
  { param: 'n', isAsked: (value) => value !== 1, why: 'Ollama gives one choice; ask again for another' },
  { param: 'best_of', isAsked: (value) => value !== 1, why: 'Ollama gives one choice, which is the best' },
  { param: 'logprobs', isAsked: (value) => value !== false, why: 'log probabilities are not passed on' },
  {
    param: 'logit_bias',
    isAsked: (value) => !isFields(value) || Object.keys(value).length > 0,
    why: 'Ollama cannot bias single tokens',
  },
  { param: 'images', isAsked: isAnything, why: 'a completion has no images; send a chat' },
];
