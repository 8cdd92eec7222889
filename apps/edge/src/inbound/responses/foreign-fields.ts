import type { RunOrder } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, isObject } from '../http/problem.ts';

/** What was asked at another door, as if it had been asked for here; undefined: no response can show it. */
export function foreignFields(record: RunRecord, order: RunOrder): Fields | undefined {
  const { dialect, body } = order;
  const model = record.asked === '' ? `${record.adapter}/${record.target}` : record.asked;
  const base = { model, background: record.runClass === 'detached' };
  if (dialect === 'iop.prompt') return { ...base, input: Buffer.from(body).toString() };
  if (dialect !== 'openai.chat') return undefined;
  const chat = parseJsonBody(body);
  return chat.kind === 'object' ? { ...chat.fields, ...base, ...fromChat(chat.fields) } : undefined;
}

function fromChat({ messages, tools, max_tokens, max_completion_tokens }: Fields): Fields {
  return {
    input: Array.isArray(messages) ? messages.filter(isObject).flatMap(toItems) : [],
    tools: Array.isArray(tools) ? tools.filter(isObject).map(toTool) : [],
    tool_choice: undefined,
    max_output_tokens: max_completion_tokens ?? max_tokens,
  };
}

function toItems(message: Fields): Fields[] {
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: toParts(content) }];
  const said = content === null || content === undefined ? [] : [{ role, content: toParts(content) }];
  const called = Array.isArray(calls) ? calls.filter(isObject).map(toCall) : [];
  return [...said, ...called];
}

function toCall({ id, function: called }: Fields): Fields {
  const { name, arguments: json } = isObject(called) ? called : {};
  return { type: 'function_call', call_id: id, name, arguments: json };
}

function toParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.filter(isObject).map((part) => {
    if (part.type === 'text') return { ...part, type: 'input_text' };
    const url = isObject(part.image_url) ? part.image_url.url : undefined;
    return part.type === 'image_url' ? { type: 'input_image', image_url: url } : part;
  });
}

function toTool({ function: called, ...tool }: Fields): Fields {
  return isObject(called) ? { ...called, type: tool.type } : tool;
}
