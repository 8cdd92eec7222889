import type { Usage } from '@iop/domain';
import type { Dialect } from './spec.ts';

/**
 * What a run emits before its end. The end itself is what `execute` resolves with.
 *
 * `raw` carries upstream bytes untouched: one or more whole server-sent events (stream) or a piece of
 * the JSON body (not stream). It is the only kind on the hot path; the others are for adapters whose
 * upstream speaks no dialect of a door. `more`: this is a piece of one event that is larger than a
 * frame; a reader shows the pieces together or not at all.
 */
export type RuntimeEvent =
  | { kind: 'raw'; dialect: Dialect; bytes: Uint8Array; more: boolean }
  /** `openai.raw`, once before the first `raw`: what those bytes are. */
  | { kind: 'head'; contentType: string }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'tool-call'; index: number; id: string; name: string; argumentsJson: string }
  | { kind: 'tool-activity'; id: string; title: string; status: string; detailJson: string }
  | { kind: 'plan'; entriesJson: string }
  | { kind: 'permission-request'; id: string; title: string; optionsJson: string }
  | { kind: 'step'; id: string; name: string; status: string }
  | { kind: 'log'; stream: 'stdout' | 'stderr' | 'system'; bytes: Uint8Array }
  | { kind: 'artifact'; id: string; name: string; mediaType: string; bytes: Uint8Array; last: boolean }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'progress'; message: string; fraction?: number };

export type RuntimeEventKind = RuntimeEvent['kind'];

/** Content reaches a caller and so closes the way back: after it no other Node may try. */
const contentKinds: ReadonlySet<RuntimeEventKind> = new Set([
  'raw',
  'text',
  'reasoning',
  'tool-call',
  'tool-activity',
  'artifact',
]);

export function isContent(event: RuntimeEvent): boolean {
  return contentKinds.has(event.kind);
}
