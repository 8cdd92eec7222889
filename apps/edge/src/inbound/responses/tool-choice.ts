import { type Fields, isObject, type Problem } from '../http/problem.ts';
import type { ChatTool, ToolPlan } from './tool-plan.ts';

/** What the model is told to do with its tools. */
export interface ChosenTools {
  chatTools: readonly ChatTool[];
  /** As `tool_choice` of a chat request; undefined: as the model likes. */
  choice: unknown;
}

export type ToolChoice = { kind: 'chosen'; tools: ChosenTools } | { kind: 'problem'; problem: Problem };

/** A choice that cannot be kept is a problem: the answer would not be what was asked for. */
export function chooseTools(choice: unknown, plan: ToolPlan): ToolChoice {
  const { chatTools } = plan;
  if (choice === undefined || choice === null || choice === 'auto') return chosen(chatTools, undefined);
  if (choice === 'none') return chosen(chatTools, 'none');
  if (choice === 'required') return chatTools.length > 0 ? chosen(chatTools, choice) : unservable('required');
  if (!isObject(choice)) return unservable(String(choice));
  if (choice.type === 'allowed_tools') return chooseAllowed(choice, plan);
  const name = nameOfChoice(choice, plan);
  return name === undefined
    ? unservable(typeof choice.name === 'string' ? `${choice.type} \`${choice.name}\`` : `\`${choice.type}\``)
    : chosen(chatTools, { type: 'function', function: { name } });
}

function chooseAllowed({ mode, tools }: Fields, plan: ToolPlan): ToolChoice {
  const names = (Array.isArray(tools) ? tools : []).map((tool) => nameOfChoice(tool, plan));
  const allowed = plan.chatTools.filter((tool) => names.includes(tool.function.name));
  if (allowed.length === 0) return unservable('allowed_tools, of which none can be served');
  return chosen(allowed, mode === 'required' ? 'required' : undefined);
}

function nameOfChoice(choice: unknown, { called }: ToolPlan): string | undefined {
  if (!isObject(choice)) return undefined;
  for (const [chatName, tool] of called) {
    const isSame = tool.kind === choice.type && tool.name === choice.name;
    if (isSame && (choice.namespace === undefined || tool.namespace === choice.namespace)) return chatName;
  }
  return undefined;
}

function chosen(chatTools: readonly ChatTool[], choice: unknown): ToolChoice {
  return { kind: 'chosen', tools: { chatTools, choice: chatTools.length === 0 ? undefined : choice } };
}

function unservable(what: string): ToolChoice {
  const rule = `${what.slice(0, 200)} cannot be chosen: it is not among the tools that can be served here`;
  return { kind: 'problem', problem: { kind: 'value', path: 'tool_choice', code: 'invalid_value', rule } };
}
