import { type Fields, isObject } from '../http/problem.ts';
import { isServerTool } from './block-checks.ts';
import { blocksOf } from './block-text.ts';
import type { ChatTool } from './chat-message.ts';
import { toolsOf } from './tool-checks.ts';

export interface ChatTools {
  /** Fields of a chat request. */
  fields: { tools?: readonly ChatTool[] } & Fields;
  /** What was asked for and cannot be served, for people. */
  unsupported: readonly string[];
}

/** `tools`, `tool_choice` and what the conversation has changed about them. */
export function toChatTools(body: Fields): ChatTools {
  const shown = shownTools(body);
  const unsupported = shown.filter(isServerTool).map(nameOf);
  const tools = shown.filter((tool) => !isServerTool(tool)).map(toFunction);
  const fields = { ...(tools.length > 0 && { tools, ...toChoice(body.tool_choice) }) };
  return { fields, unsupported: [...unsupported, ...toolPlaces(body)] };
}

/** A deferred tool is shown once the conversation names it; by itself where nobody is left who could find it. */
function shownTools(body: Fields): Fields[] {
  const tools = toolsOf(body);
  const changes = readChanges(body);
  const canSearch = !tools.some(
    ({ type }) => typeof type === 'string' && type.startsWith('tool_search_tool'),
  );
  const isShown = ({ name, defer_loading: isDeferred }: Fields) =>
    changes.get(String(name)) ?? (isDeferred !== true || !canSearch);
  return [...tools, ...changes.definitions].filter(isShown);
}

interface ToolChanges {
  definitions: readonly Fields[];
  /** Undefined: the conversation says nothing of it. */
  get(name: string): boolean | undefined;
}

function readChanges({ messages }: Fields): ToolChanges {
  const shown = new Map<string, boolean>();
  const definitions: Fields[] = [];
  const read = (block: Fields): void => {
    if (block.type === 'tool_result') for (const inner of blocksOf(block.content)) read(inner);
    else if (block.type === 'tool_reference') shown.set(String(block.tool_name), true);
    else if (block.type !== 'tool_addition' && block.type !== 'tool_removal') return;
    else if (isObject(block.tool)) change(block.tool, block.type === 'tool_addition');
  };
  const change = ({ definition, name }: Fields, isAdded: boolean): void => {
    if (isObject(definition)) definitions.push(definition);
    shown.set(String(isObject(definition) ? definition.name : name), isAdded);
  };
  for (const message of Array.isArray(messages) ? messages.filter(isObject) : []) {
    if (Array.isArray(message.content)) for (const block of blocksOf(message.content)) read(block);
  }
  return { definitions, get: (name) => shown.get(name) };
}

function toFunction({ name, description, input_schema: parameters, strict }: Fields): ChatTool {
  const described = {
    name,
    ...(typeof description === 'string' && { description }),
    parameters,
    ...(strict === true && { strict: true as const }),
  };
  return { type: 'function', function: described };
}

const choices: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' };

function toChoice(choice: unknown): Fields {
  if (!isObject(choice)) return {};
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  const chosen = type === 'tool' ? { type: 'function', function: { name } } : choices[String(type)];
  return { tool_choice: chosen, ...(isSingle === true && { parallel_tool_calls: false }) };
}

function nameOf({ type, name }: Fields): string {
  return name === undefined || name === type ? String(type) : `${name} (${type})`;
}

/** Where tools would run that are not even listed. */
function toolPlaces({ mcp_servers: servers, container }: Fields): string[] {
  const places = Array.isArray(servers) ? servers.filter(isObject) : [];
  const names = places.map(({ name }) => `MCP server ${name}`);
  return container === undefined || container === null ? names : [...names, 'container'];
}
