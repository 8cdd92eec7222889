import { type Fields, isObject, type Problem } from '../http/problem.ts';
import { ChatMessages } from './chat-messages.ts';
import { ItemReader } from './item-reader.ts';
import { ProblemBook } from './problem-book.ts';
import { type ResponseAsk, wantsLogprobs } from './response-ask.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';

export type ChatBody = { kind: 'body'; fields: Fields } | { kind: 'problem'; problem: Problem };

/**
 * The request as a chat that every adapter takes, always streamed.
 *
 * @param history items of the responses before it, oldest first
 */
export function toChatBody(ask: ResponseAsk, history: readonly Fields[]): ChatBody {
  const problems = new ProblemBook();
  const messages = new ChatMessages();
  const reader = new ItemReader({ messages, plan: ask.tools, problems });
  messages.instruct(ask.instructions);
  for (const [index, item] of history.entries()) reader.read(item, `history[${index}]`);
  for (const [index, item] of ask.items.entries()) reader.read(item, `input[${index}]`);
  if (problems.first !== undefined) return { kind: 'problem', problem: problems.first };
  const list = messages.finish();
  if (list.length === 0) return { kind: 'problem', problem: nothing };
  const choice = chooseTools(ask.fields.tool_choice, ask.tools);
  if (choice.kind === 'problem') return choice;
  const base = { model: ask.model, messages: list, stream: true, stream_options: { include_usage: true } };
  return { kind: 'body', fields: { ...base, ...toolFields(ask, choice.tools), ...settings(ask.fields) } };
}

const nothing: Problem = {
  kind: 'value',
  path: 'input',
  code: 'empty_array',
  rule: 'must hold at least one item',
};

function toolFields({ fields }: ResponseAsk, { chatTools, choice }: ChosenTools): Fields {
  if (chatTools.length === 0) return {};
  const { parallel_tool_calls: parallel } = fields;
  return {
    tools: chatTools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
  };
}

/** Under the same name in both; what the model servers know beyond the published fields, too. */
const passedOn = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'top_k',
  'min_p',
  'seed',
  'stop',
  'stop_token_ids',
  'repetition_penalty',
  'logit_bias',
  'priority',
  'chat_template_kwargs',
];

function settings(fields: Fields): Fields {
  const chat: Record<string, unknown> = {};
  for (const name of passedOn) if (isSet(fields[name])) chat[name] = fields[name];
  if (isSet(fields.max_output_tokens)) chat.max_tokens = fields.max_output_tokens;
  if (isObject(fields.reasoning) && isSet(fields.reasoning.effort))
    chat.reasoning_effort = fields.reasoning.effort;
  if (wantsLogprobs(fields)) Object.assign(chat, { logprobs: true, top_logprobs: fields.top_logprobs ?? 0 });
  if (isObject(fields.text)) Object.assign(chat, textSettings(fields.text));
  return chat;
}

function textSettings({ format, verbosity }: Fields): Fields {
  return {
    ...(isSet(verbosity) && { verbosity }),
    ...(isObject(format) && format.type !== 'text' && { response_format: toResponseFormat(format) }),
  };
}

function toResponseFormat({ type, ...schema }: Fields): Fields {
  return type === 'json_schema' ? { type, json_schema: schema } : { type };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
