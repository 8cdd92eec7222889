import { type Fields, isFields, isSet, type ProblemList } from './problem-list.ts';

/** How a model may think before it answers. */
export type Think = boolean | 'low' | 'medium' | 'high' | 'max';

const efforts: Readonly<Record<string, Think>> = {
  none: false,
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
  max: 'max',
};

/** `reasoning_effort` as Ollama's `think`; undefined: the caller does not say. */
export function toThink(body: Fields, problems: ProblemList): Think | undefined {
  const effort = body.reasoning_effort;
  if (!isSet(effort)) return undefined;
  const think = typeof effort === 'string' ? efforts[effort] : undefined;
  if (think === undefined) problems.invalid('reasoning_effort', `one of ${Object.keys(efforts).join(', ')}`);
  return think;
}

/** `response_format` as Ollama's `format`: "json", or a JSON schema. */
export function toFormat(body: Fields, problems: ProblemList): 'json' | Fields | undefined {
  const format = body.response_format;
  if (!isSet(format)) return undefined;
  const type = isFields(format) ? format.type : undefined;
  if (type === 'text') return undefined;
  if (type === 'json_object') return 'json';
  if (type !== 'json_schema') {
    problems.unsupported('response_format', `expected text, json_object or json_schema, got ${quote(type)}`);
    return undefined;
  }
  const schema = isFields(format) && isFields(format.json_schema) ? format.json_schema.schema : undefined;
  if (isFields(schema)) return schema;
  problems.invalid('response_format.json_schema.schema', 'a JSON schema');
  return undefined;
}

/** Functions that the model may call; none if it must not. */
export function toTools(body: Fields, problems: ProblemList): unknown[] {
  const { tools, tool_choice: choice } = body;
  if (isSet(choice) && choice !== 'auto' && choice !== 'none') {
    problems.unsupported('tool_choice', 'Ollama cannot be made to call a tool; only auto and none are taken');
  }
  if (!isSet(tools)) return [];
  if (!Array.isArray(tools)) {
    problems.invalid('tools', 'an array');
    return [];
  }
  for (const [index, tool] of tools.entries()) {
    const type = isFields(tool) ? tool.type : undefined;
    if (type !== 'function') {
      problems.unsupported(`tools[${index}]`, `only functions can be called, not ${quote(type)}`);
    }
  }
  return choice === 'none' ? [] : tools;
}

/** O1: what would otherwise be dropped without a word. */
export function refuseUnsupported(body: Fields, problems: ProblemList): void {
  refuseRows(unsupportedRows, body, problems);
}

export function refuseRows(rows: readonly UnsupportedRow[], body: Fields, problems: ProblemList): void {
  for (const { param, isAsked, why } of rows) {
    if (isSet(body[param]) && isAsked(body[param])) problems.unsupported(param, why);
  }
}

export interface UnsupportedRow {
  param: string;
  /** Many clients send the value that asks for nothing. */
  isAsked(value: unknown): boolean;
  why: string;
}

const isAnything = () => true;
const isNotEmpty = (value: unknown) => !isFields(value) || Object.keys(value).length > 0;

const unsupportedRows: readonly UnsupportedRow[] = [
  { param: 'n', isAsked: (value) => value !== 1, why: 'Ollama gives one choice; ask again for another' },
  { param: 'logit_bias', isAsked: isNotEmpty, why: 'Ollama cannot bias single tokens' },
  { param: 'logprobs', isAsked: (value) => value !== false, why: 'log probabilities are not passed on' },
  { param: 'top_logprobs', isAsked: (value) => value !== 0, why: 'log probabilities are not passed on' },
  { param: 'audio', isAsked: isAnything, why: 'Ollama does not speak' },
  {
    param: 'modalities',
    isAsked: (value) => !Array.isArray(value) || value.some((kind) => kind !== 'text'),
    why: 'Ollama answers in text',
  },
  { param: 'web_search_options', isAsked: isAnything, why: 'Ollama does not search the web' },
  { param: 'functions', isAsked: isAnything, why: 'the form before tools is not taken; use tools' },
  { param: 'function_call', isAsked: isAnything, why: 'the form before tool_choice is not taken' },
];

function quote(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
