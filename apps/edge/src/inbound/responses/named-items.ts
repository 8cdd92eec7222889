import { type Fields, isObject } from '../http/problem.ts';
import { type ItemPrefix, inputItemId } from './response-ids.ts';
import type { ResponseIdentity } from './response-object.ts';

const prefixes: Readonly<Record<string, ItemPrefix>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
};

/** The input items of a response in their long form: each has a type, an id and parts. */
export function namedItems({ id, ask }: ResponseIdentity): Fields[] {
  return ask.items.map((item, index) => {
    const type = typeof item.type === 'string' ? item.type : typeOf(item);
    if (type === 'item_reference') return { ...item, type };
    const given = typeof item.id === 'string' && item.id !== '' ? item.id : undefined;
    const named = { ...item, id: given ?? inputItemId(prefixes[type] ?? 'item', id, index), type };
    if (type === 'reasoning' || type === 'compaction') return named;
    const status = item.status ?? 'completed';
    return type === 'message' ? { ...named, status, content: toParts(item) } : { ...named, status };
  });
}

function typeOf({ role }: Fields): string {
  return role === undefined ? 'item_reference' : 'message';
}

function toParts({ role, content }: Fields): unknown {
  const isAnswer = role === 'assistant';
  if (typeof content === 'string') {
    return [
      isAnswer ? { type: 'output_text', text: content, ...extras } : { type: 'input_text', text: content },
    ];
  }
  if (!Array.isArray(content)) return content;
  return content.map((part: unknown) => {
    if (!isObject(part)) return part;
    if (part.type === 'output_text') return { ...extras, ...part };
    return part.type === 'input_image' ? { detail: 'auto', ...part } : part;
  });
}

const extras: Fields = { annotations: [], logprobs: [] };
