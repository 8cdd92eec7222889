import type { RunState } from '@iop/domain';
import { fromWireRunState, type RunEvent } from '@iop/wire';

/** An event as plain JSON data: its kind and its fields, bytes as text. */
export function toEventJson(event: RunEvent): Record<string, unknown> {
  const { case: kind, value } = event.kind;
  if (kind === undefined) return { kind: 'unknown' };
  if (kind === 'state') return { kind, state: fromWireRunState(value.state) };
  const fields = Object.entries(value).filter(([name]) => !name.startsWith('$'));
  return {
    kind: toWords(kind),
    ...Object.fromEntries(fields.map(([name, field]) => [name, toPlain(field)])),
  };
}

/** Of an event of kind `state`; undefined: it is another. */
export function stateOf({ kind }: RunEvent): RunState | undefined {
  return kind.case === 'state' ? fromWireRunState(kind.value.state) : undefined;
}

function toPlain(field: unknown): unknown {
  if (field instanceof Uint8Array) return toText(field);
  if (Array.isArray(field)) return field.map(toPlain);
  if (typeof field !== 'object' || field === null) return field;
  return Object.fromEntries(Object.entries(field).filter(([name]) => !name.startsWith('$')));
}

/** What is no UTF-8 is given as base64, and says so. */
function toText(bytes: Uint8Array): unknown {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

/** `toolCall` → `tool-call` */
function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
