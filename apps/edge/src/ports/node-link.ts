import type { CancelCause, RunEnd } from '@iop/domain';
import type { Dialect, RawRequest, RetryBoundary, RuntimeEvent, SessionKind, TargetInfo } from '@iop/runtime';

/**
 * What the core asks of the connection to one Node. The object belongs to the Node's name and outlives
 * single connections: what is asked while none is up is dropped, because `RunInventory` settles it later.
 * Nothing here blocks, throws or calls back before it returns.
 *
 * Contract suite: `node-link.contract.ts`.
 */
export interface NodeLink {
  /** Hands the Node its configuration; it answers with a result and then its capabilities. */
  configure(config: NodeConfig): void;
  /** Hands over one attempt. `sink` is called in order of seq, without duplicates, until `forget`. */
  dispatch(order: RunOrder, sink: AttemptSink): void;
  /** Asks for a stop. The attempt still ends by `AttemptSink.end`. */
  cancel(attempt: AttemptRef, by: CancelCause): void;
  /** The owner has passed on so many bytes of the attempt's events: the Node may send as many again. */
  consumed(attempt: AttemptRef, sizeBytes: number): void;
  /** Last seq that arrived; 0 if none or unknown. */
  receivedSeq(attempt: AttemptRef): number;
  /** Everything up to this seq is durable here: of a detached attempt only that is acked. */
  committed(attempt: AttemptRef, seq: number): void;
  /** A detached attempt that an earlier process of the Edge dispatched; its events up to `receivedSeq` are in the log. */
  adopt(attempt: AttemptRef, sink: AttemptSink, receivedSeq: number): void;
  /** The attempt is over for the Edge: its sink is never called again, whatever the Node still sends. */
  forget(attempt: AttemptRef): void;
  /** Answers `RunInventory`. */
  resume(answers: readonly ResumeAnswer[]): void;
  /** Says goodbye and closes; the Node comes back after the delay. */
  close(reason: string, reconnectAfterMs: number): void;
}

export interface AttemptRef {
  readonly runId: string;
  /** Counts dispatches of the run, from 1. */
  readonly attempt: number;
}

export interface RunOrder extends AttemptRef {
  adapter: string;
  target: string;
  dialect: Dialect;
  body: Uint8Array;
  stream: boolean;
  includeUsage: boolean;
  /** 0: no limit. */
  deadlineMs: number;
  door: string;
  configRevision: number;
  /** Acked when committed; the Node goes on without a link. */
  detached: boolean;
  /** Present exactly if `dialect` is `openai.raw`. */
  raw?: RawRequest | undefined;
}

/** What happens to one dispatched attempt. Called synchronously, in order; nothing after `end` or `broken`. */
export interface AttemptSink {
  /** The Node has taken the attempt. */
  accepted(): void;
  /** `sizeBytes`: what they take of the window. `lastSeq`: of the last of them. */
  events(events: readonly RuntimeEvent[], sizeBytes: number, lastSeq: number): void;
  /** A change of state that is not an end. */
  stateChanged(state: 'running' | 'waiting'): void;
  /** A detached attempt is still held here until `forget`, so that `committed` acks its end. */
  end(end: RunEnd, seq: number): void;
  /** Events are missing or cannot be read: the attempt cannot go on. */
  broken(code: string, message: string): void;
}

/** One line of the Node's inventory: an attempt that it still holds. */
export interface HeldByNode extends AttemptRef {
  state: 'starting' | 'running' | 'waiting' | 'stopping' | 'ended';
  /** Last seq given. */
  lastSeq: number;
  /** Everything from here on can be sent again. */
  firstKeptSeq: number;
  bodyReceivedBytes: number;
  /** How, if it has ended. */
  endedAs?: RunEnd['kind'];
}

export type ResumeAnswer =
  /** Go on after the last seq that arrived, with the whole window of the owner at this moment. */
  (AttemptRef & { kind: 'resume'; bodyReceivedBytes: number }) | (AttemptRef & { kind: 'drop' });

/** What one Node is given to execute. */
export interface NodeConfig {
  revision: number;
  adapters: readonly AdapterSettings[];
  stallAfterMs: number;
  orphanAfterMs: number;
  /** The same for its detached runs. */
  detachedOrphanAfterMs: number;
}

export interface AdapterSettings {
  name: string;
  /** Names of Nodes, `key=value` labels, or "*". */
  nodes: readonly string[];
  /** Runs at once on each Node, over all targets; 0: no limit. */
  concurrency: number;
  /** False: whatever fails, runs are not kept away from it. */
  breaker?: boolean;
  targets: readonly TargetSettings[];
  options: AdapterOptions;
}

export interface TargetSettings {
  name: string;
  /** Runs at once on each Node; 0: no limit. */
  concurrency: number;
  /** mock: the script that is played when a prompt carries none. */
  mockScriptJson?: string;
  /** cli: the program and how it is called. */
  cliProfileJson?: string;
  /** vllm: whether the upstream is asked for a stream; undefined: as the caller asks. */
  forceStream?: boolean;
}

export type AdapterOptions =
  | { kind: 'mock' }
  | { kind: 'cli' }
  | {
      kind: 'vllm';
      /** Up to and including /v1. */
      baseUrl: string;
      apiKeyFile?: string;
      /** 0 in any of these: the Node's default. */
      connectTimeoutMs: number;
      firstByteTimeoutMs: number;
      idleTimeoutMs: number;
    }
  | {
      kind: 'ollama';
      /** Before `/api`. */
      baseUrl: string;
      /** Empty: no key. */
      apiKeyFile: string;
      /** 0 in any of these: the Node's default. */
      connectTimeoutMs: number;
      loadTimeoutMs: number;
      idleTimeoutMs: number;
      /** 0: as the server is set up. */
      numCtx: number;
      /** Empty: as the server is set up. */
      keepAlive: string;
      /** Empty: as the model does by itself. */
      think: string;
    };

/** What a Node says that one of its adapters can do now. */
export interface AdapterCapabilities {
  name: string;
  kind: string;
  healthy: boolean;
  detail: string;
  targets: readonly TargetInfo[];
  retry: RetryBoundary;
  sessions: SessionKind;
  dialects: readonly string[];
}
