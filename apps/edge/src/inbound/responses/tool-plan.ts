import { type Fields, isObject } from '../http/problem.ts';

/** What a call of the model means to the caller. */
export interface CalledTool {
  kind: 'function' | 'custom';
  name: string;
  /** Of the `namespace` tool that it stands in. */
  namespace: string | undefined;
}

/** A tool that no chat model can be given. */
export interface UnservedTool {
  type: string;
  name?: string;
}

/** The tools of a request: what the model is told of them, and what its calls mean. */
export interface ToolPlan {
  /** As `tools` of a chat request. */
  chatTools: readonly ChatTool[];
  /** By the name that the model knows. */
  called: ReadonlyMap<string, CalledTool>;
  /** As the response shows them. */
  served: readonly Fields[];
  unserved: readonly UnservedTool[];
}

export interface ChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters?: unknown; strict?: true };
}

const longestName = 64;

/** Pure: the same request gives the same plan whenever it is read again. */
export function planTools(tools: unknown): ToolPlan {
  const builder = new PlanBuilder();
  if (Array.isArray(tools)) for (const tool of tools) if (isObject(tool)) builder.add(tool);
  return builder;
}

class PlanBuilder implements ToolPlan {
  readonly chatTools: ChatTool[] = [];
  readonly called = new Map<string, CalledTool>();
  readonly served: Fields[] = [];
  readonly unserved: UnservedTool[] = [];

  add(tool: Fields): void {
    if (tool.type === 'namespace') this.#addNamespace(tool);
    else if (this.#addCallable(tool, undefined)) this.served.push(shown(tool));
    else this.#refuse(tool);
  }

  /** Its tools are offered one by one; the calls carry its name again. */
  #addNamespace(space: Fields): void {
    const tools = Array.isArray(space.tools) ? space.tools.filter(isObject) : [];
    const served = tools.filter((tool) => this.#addCallable(tool, String(space.name)));
    for (const tool of tools) if (!served.includes(tool)) this.#refuse(tool);
    if (served.length > 0) this.served.push({ ...space, tools: served.map(shown) });
    else if (tools.length === 0) this.#refuse(space);
  }

  #addCallable(tool: Fields, namespace: string | undefined): boolean {
    const { type, name } = tool;
    if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') return false;
    const chatName = this.#freeName(name, namespace);
    this.called.set(chatName, { kind: type, name, namespace });
    const definition = type === 'function' ? functionOf(tool) : functionOfCustom(tool);
    this.chatTools.push({ type: 'function', function: { name: chatName, ...definition } });
    return true;
  }

  #freeName(name: string, namespace: string | undefined): string {
    if (namespace === undefined) return name;
    const joined = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replace(
      /[^A-Za-z0-9_-]/g,
      '_',
    );
    if (joined.length <= longestName && !this.called.has(joined)) return joined;
    const tail = `_${this.called.size}`;
    return joined.slice(0, longestName - tail.length) + tail;
  }

  #refuse({ type, name }: Fields): void {
    this.unserved.push({ type: String(type), ...(typeof name === 'string' && { name }) });
  }
}

function functionOf({ description, parameters, strict }: Fields): Omit<ChatTool['function'], 'name'> {
  return {
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(strict === true && { strict }),
  };
}

/** Free text as the one argument of a function; a grammar is told to the model, which nobody holds to it. */
function functionOfCustom({ description, format }: Fields): Omit<ChatTool['function'], 'name'> {
  const grammar = isObject(format) && typeof format.definition === 'string' ? format : undefined;
  const rule =
    grammar === undefined
      ? ''
      : `\n\n\`input\` is a text of this grammar (${String(grammar.syntax)}):\n${String(grammar.definition)}`;
  const text = `${typeof description === 'string' ? description : ''}${rule}`.trim();
  const parameters = {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
    additionalProperties: false,
  };
  return { ...(text !== '' && { description: text }), parameters };
}

/** Every field that the published shape of a function has. */
function shown(tool: Fields): Fields {
  if (tool.type !== 'function') return tool;
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}

/** `x-iop-unsupported-tools`: `web_search, computer_use_preview`. */
export function unservedWords(unserved: readonly UnservedTool[]): string {
  return unserved.map(({ type, name }) => (name === undefined ? type : `${type}:${name}`)).join(', ');
}
