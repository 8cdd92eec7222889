import type { CancelCause, RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type {
  AdapterCapabilities,
  AttemptRef,
  AttemptSink,
  HeldByNode,
  NodeConfig,
  NodeLink,
  ResumeAnswer,
  RunOrder,
} from '../ports/node-link.ts';

/** What a fake Node was asked, in order. */
export type Asked =
  | { kind: 'configure'; config: NodeConfig }
  | { kind: 'dispatch'; order: RunOrder }
  | { kind: 'cancel'; runId: string; attempt: number; by: CancelCause }
  | { kind: 'consumed'; runId: string; attempt: number; sizeBytes: number }
  | { kind: 'committed'; runId: string; attempt: number; seq: number }
  | { kind: 'adopt'; runId: string; attempt: number; receivedSeq: number }
  | { kind: 'forget'; runId: string; attempt: number }
  | { kind: 'resume'; answers: readonly ResumeAnswer[] }
  | { kind: 'close'; reason: string };

/** A `NodeLink` without a wire: tests speak for the Node. */
export interface FakeNode extends NodeLink {
  readonly name: string;
  readonly asked: Asked[];
  /** Attempts that it was given, oldest first. */
  readonly given: FakeAttempt[];
  /** The newest attempt. */
  last(): FakeAttempt;
  /** Asked of that kind, oldest first. */
  askedFor<K extends Asked['kind']>(kind: K): Extract<Asked, { kind: K }>[];
}

export interface FakeAttempt {
  readonly order: RunOrder;
  /** Events that the Node has given numbers. */
  seq: number;
  /** The Edge wants to hear no more of it; `sink` is then called only by tests that do so themselves. */
  forgotten: boolean;
  /** Passes events on, as raw pieces of text. */
  say(...texts: string[]): void;
  emit(...events: RuntimeEvent[]): void;
  accept(): void;
  end(end: RunEnd): void;
  readonly sink: AttemptSink;
}

export const completed: RunEnd = { kind: 'completed', finish: 'stop' };

export function createFakeNode(name: string): FakeNode {
  const asked: Asked[] = [];
  const given: FakeAttempt[] = [];
  return {
    name,
    asked,
    given,
    last() {
      const attempt = given.at(-1);
      if (attempt === undefined) throw new Error(`fake Node ${name} was given no run`);
      return attempt;
    },
    askedFor: <K extends Asked['kind']>(kind: K) =>
      asked.filter((each): each is Extract<Asked, { kind: K }> => each.kind === kind),
    configure: (config) => void asked.push({ kind: 'configure', config }),
    dispatch(order, sink) {
      asked.push({ kind: 'dispatch', order });
      given.push(createFakeAttempt(order, sink));
    },
    cancel: (ref, by) => void asked.push({ kind: 'cancel', ...refOf(ref), by }),
    consumed: (ref, sizeBytes) => void asked.push({ kind: 'consumed', ...refOf(ref), sizeBytes }),
    receivedSeq: (ref) => given.find((each) => isOf(each, ref))?.seq ?? 0,
    committed: (ref, seq) => void asked.push({ kind: 'committed', ...refOf(ref), seq }),
    adopt(ref, sink, receivedSeq) {
      asked.push({ kind: 'adopt', ...refOf(ref), receivedSeq });
      given.push(createFakeAttempt({ ...noOrder, ...refOf(ref) }, sink, receivedSeq));
    },
    forget(ref) {
      asked.push({ kind: 'forget', ...refOf(ref) });
      const attempt = given.find((each) => isOf(each, ref));
      if (attempt !== undefined) attempt.forgotten = true;
    },
    resume: (answers) => void asked.push({ kind: 'resume', answers }),
    close: (reason) => void asked.push({ kind: 'close', reason }),
  };
}

function isOf({ order }: FakeAttempt, { runId, attempt }: AttemptRef): boolean {
  return order.runId === runId && order.attempt === attempt;
}

function refOf({ runId, attempt }: AttemptRef): { runId: string; attempt: number } {
  return { runId, attempt };
}

/** Of an attempt that an earlier process of the Edge gave. */
const noOrder: Omit<RunOrder, keyof AttemptRef> = {
  adapter: '',
  target: '',
  dialect: 'openai.chat',
  body: new Uint8Array(0),
  stream: true,
  includeUsage: false,
  deadlineMs: 0,
  door: '',
  configRevision: 0,
  detached: true,
};

function createFakeAttempt(order: RunOrder, sink: AttemptSink, seq = 0): FakeAttempt {
  return {
    order,
    sink,
    seq,
    forgotten: false,
    say(...texts) {
      this.emit(...texts.map(rawEvent));
    },
    emit(...events) {
      this.seq += events.length;
      if (!this.forgotten) sink.events(events, sizeOf(events), this.seq);
    },
    accept() {
      if (!this.forgotten) sink.accepted();
    },
    end(end) {
      this.seq++;
      if (!this.forgotten) sink.end(end, this.seq);
    },
  };
}

export function rawEvent(text: string): RuntimeEvent {
  return { kind: 'raw', dialect: 'openai.chat', bytes: new TextEncoder().encode(text), more: false };
}

export function sizeOf(events: readonly RuntimeEvent[]): number {
  return events.reduce((sum, event) => sum + 16 + (event.kind === 'raw' ? event.bytes.length : 0), 0);
}

export function mockCapabilities(over: Partial<AdapterCapabilities> = {}): AdapterCapabilities {
  return {
    name: 'mock',
    kind: 'mock',
    healthy: true,
    detail: '',
    targets: [{ name: 'echo' }],
    retry: 'before-content',
    sessions: 'portable',
    dialects: ['openai.chat', 'iop.prompt'],
    ...over,
  };
}

/** As a Node lists an attempt that it still holds in full. */
export function heldOf(attempt: FakeAttempt, over: Partial<HeldByNode> = {}): HeldByNode {
  const { runId, attempt: number } = attempt.order;
  const rest = { lastSeq: attempt.seq, firstKeptSeq: 1, bodyReceivedBytes: attempt.order.body.length };
  return { runId, attempt: number, state: 'running', ...rest, ...over };
}
