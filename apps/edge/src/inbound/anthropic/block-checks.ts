import { inArray, inObject, isAnObject, isString, required } from '../http/field-checks.ts';
import { type Fields, isObject, nameOf, type Problem, within } from '../http/problem.ts';

/** Where a block stands: it decides which kinds there may be. */
export type BlockPlace = 'system' | 'user' | 'assistant' | 'result' | 'document';

type BlockCheck = (block: Fields) => Problem | undefined;

const checks: Readonly<Record<string, BlockCheck>> = {
  text: (block) => required(block, 'text', isString),
  image: (block) => required(block, 'source', isAnObject) ?? inObject(block, 'source', checkImage),
  document: (block) => required(block, 'source', isAnObject) ?? inObject(block, 'source', checkDocument),
  search_result: (block) =>
    required(block, 'title', isString) ??
    required(block, 'source', isString) ??
    checkContent(block, 'content', 'document'),
  thinking: (block) => required(block, 'thinking', isString),
  redacted_thinking: () => undefined,
  tool_use: (block) => required(block, 'id', isString) ?? required(block, 'name', isString),
  tool_result: (block) =>
    required(block, 'tool_use_id', isString) ??
    (block.content === undefined || block.content === null
      ? undefined
      : checkContent(block, 'content', 'result')),
  tool_reference: (block) => required(block, 'tool_name', isString),
  tool_addition: (block) => required(block, 'tool', isAnObject) ?? inObject(block, 'tool', checkAddition),
  tool_removal: (block) => required(block, 'tool', isAnObject) ?? inObject(block, 'tool', checkReference),
};

const kinds: Readonly<Record<BlockPlace, readonly string[]>> = {
  system: ['text', 'tool_addition', 'tool_removal'],
  user: ['text', 'image', 'document', 'search_result', 'tool_result', 'tool_addition', 'tool_removal'],
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use'],
  result: ['text', 'image', 'document', 'search_result', 'tool_reference'],
  document: ['text', 'image'],
};

/** A text, or blocks of the kinds that may stand there. */
export function checkContent(fields: Fields, name: string, place: BlockPlace): Problem | undefined {
  const content = fields[name];
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content)) {
    return { kind: 'type', path: name, expected: 'a string or an array of blocks', got: content };
  }
  return inArray(fields, name, (block) => checkBlock(block, place));
}

function checkBlock(block: unknown, place: BlockPlace): Problem | undefined {
  if (!isObject(block)) return { kind: 'type', path: '', expected: 'an object', got: block };
  const { type } = block;
  const problem = required(block, 'type', isString);
  if (problem !== undefined) return problem;
  const check = kinds[place].includes(String(type)) ? checks[String(type)] : undefined;
  return check === undefined ? unsupported('type', `blocks of type ${quote(type)}`) : check(block);
}

function checkImage(source: Fields): Problem | undefined {
  if (source.type === 'url') return required(source, 'url', isString);
  if (source.type !== 'base64') return unsupported('type', `images from a source ${quote(source.type)}`);
  return required(source, 'media_type', isString) ?? required(source, 'data', isString);
}

function checkDocument(source: Fields): Problem | undefined {
  if (source.type === 'text') return required(source, 'data', isString);
  if (source.type === 'content') return checkContent(source, 'content', 'document');
  return unsupported('type', `documents from a source ${quote(source.type)}, for example PDF,`);
}

function checkAddition(tool: Fields): Problem | undefined {
  if (tool.type !== 'tool_definition') return checkReference(tool);
  return required(tool, 'definition', isAnObject) ?? within('definition', checkTool(tool.definition));
}

function checkReference(tool: Fields): Problem | undefined {
  if (tool.type === 'tool_reference') return required(tool, 'name', isString);
  return unsupported('type', `tools by ${quote(tool.type)}`);
}

/** One of `tools`. Those with a type of their own are known by it alone. */
export function checkTool(tool: unknown): Problem | undefined {
  if (!isObject(tool)) return { kind: 'type', path: '', expected: 'an object', got: tool };
  if (isServerTool(tool)) return required(tool, 'type', isString);
  return required(tool, 'name', isString) ?? required(tool, 'input_schema', isAnObject);
}

/** Its type says what it does: only whoever trained the model for it can serve it. */
export function isServerTool({ type }: Fields): boolean {
  return type !== undefined && type !== null && type !== 'custom';
}

function unsupported(path: string, what: string): Problem {
  return { kind: 'value', path, code: 'unsupported', rule: `${what} cannot be served here` };
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `\`${value.slice(0, 64)}\`` : nameOf(value);
}
