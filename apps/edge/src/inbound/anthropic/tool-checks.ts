import {
  inArray,
  isAnObject,
  isArray,
  isBoolean,
  isString,
  optional,
  required,
} from '../http/field-checks.ts';
import { type Fields, isObject, type Problem, within } from '../http/problem.ts';
import { checkTool, isServerTool } from './block-checks.ts';

/** `tools` and what `tool_choice` wants of them. */
export function checkTools(body: Fields): Problem | undefined {
  return (
    optional(body, 'tools', isArray) ??
    inArray(body, 'tools', checkTool) ??
    optional(body, 'tool_choice', isAnObject) ??
    (isObject(body.tool_choice)
      ? within('tool_choice', checkChoice(body.tool_choice, toolsOf(body)))
      : undefined)
  );
}

export function toolsOf({ tools }: Fields): readonly Fields[] {
  return Array.isArray(tools) ? tools.filter(isObject) : [];
}

function checkChoice(choice: Fields, tools: readonly Fields[]): Problem | undefined {
  const problem = optional(choice, 'disable_parallel_tool_use', isBoolean);
  if (problem !== undefined) return problem;
  switch (choice.type) {
    case 'auto':
    case 'none':
      return undefined;
    case 'any':
      if (tools.some((tool) => !isServerTool(tool))) return undefined;
      return unsupported('type', 'wants one of `tools`, and none of them can be served here');
    case 'tool':
      return required(choice, 'name', isString) ?? checkNamed(choice.name, tools);
    default:
      return { kind: 'value', path: 'type', code: 'invalid_value', rule: 'must be auto, any, tool or none' };
  }
}

function checkNamed(name: unknown, tools: readonly Fields[]): Problem | undefined {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined || !isServerTool(tool)) return undefined;
  return unsupported('name', `wants a tool of type \`${String(tool.type)}\`, which cannot be served here`);
}

function unsupported(path: string, rule: string): Problem {
  return { kind: 'value', path, code: 'unsupported', rule };
}
