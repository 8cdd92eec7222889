import type { CancelCause, RunEnd, RunFailure } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { EdgeDoor, KeyCheck, ModelInfo, RunIntent, StartOutcome } from '../core/door.ts';
import { PlayedRun } from './played-run.ts';
import { createScriptedDoor } from './scripted-door.ts';

export const goodKey = 'iop_testtest_good';

/** A run as a door sees it, played by a test. */
export interface ScriptedRun {
  readonly id: string;
  readonly intent: RunIntent;
  readonly cancels: readonly CancelCause[];
  readonly consumedBytes: number;
  /** Resolves when the door has cancelled it. */
  readonly cancelled: Promise<CancelCause>;
  dispatch(node?: string, route?: string): void;
  emit(...events: RuntimeEvent[]): void;
  /** Raw bytes of the dialect that was asked for. */
  raw(bytes: string | Uint8Array, more?: boolean): void;
  /** One server-sent event with this value. */
  chunk(value: unknown): void;
  complete(end?: Partial<Extract<RunEnd, { kind: 'completed' }>>): void;
  fail(failure?: Partial<RunFailure>): void;
  end(end: RunEnd): void;
}

export interface ScriptedEdge extends EdgeDoor {
  readonly runs: readonly ScriptedRun[];
  /** The n-th run, from 0, as soon as it has started. */
  run(index: number): Promise<ScriptedRun>;
  /** Plays every run right after it was accepted. */
  script: ((run: ScriptedRun) => void) | undefined;
  /** Instead of accepting. */
  refusal: Exclude<StartOutcome, { kind: 'accepted' }> | undefined;
  /** Instead of looking the key up. */
  keyCheck: KeyCheck | undefined;
  ready: boolean;
  list: ModelInfo[];
}

/** An Edge without Nodes: every run does what the test says. */
export function createScriptedEdge(): ScriptedEdge {
  const runs: PlayedRun[] = [];
  const waiting: (() => void)[] = [];
  function play(run: PlayedRun): PlayedRun {
    runs.push(run);
    for (const wake of waiting.splice(0)) wake();
    if (edge.script !== undefined) queueMicrotask(() => edge.script?.(run));
    return run;
  }
  const edge: ScriptedEdge = {
    runs,
    script: undefined,
    refusal: undefined,
    keyCheck: undefined,
    ready: true,
    list: [
      { name: 'qwen', adapters: ['vllm'], createdS: 1_700_000_000, available: true },
      { name: 'mock/echo', adapters: ['mock'], createdS: 1_700_000_001, available: true },
    ],
    start(intent, reader) {
      return edge.refusal ?? { kind: 'accepted', run: play(new PlayedRun(intent, reader, runs.length)) };
    },
    ...createScriptedDoor({
      runs,
      refusal: () => edge.refusal,
      begin: (creation) => play(new PlayedRun(creation, undefined, runs.length)),
    }),
    async run(index) {
      for (;;) {
        const run = runs[index];
        if (run !== undefined) return run;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    models: () => edge.list,
    model: (name) => edge.list.find((model) => model.name === name),
    checkKey: (presented) => edge.keyCheck ?? checkKey(presented),
    readiness: () => ({
      ready: edge.ready,
      detail: edge.ready ? 'all is well' : 'the store does not answer',
    }),
  };
  return edge;
}

function checkKey(presented: string | undefined): KeyCheck {
  if (presented === undefined) return { kind: 'missing' };
  if (presented === goodKey) return { kind: 'valid', keyId: 'testtest' };
  return presented.startsWith('iop_revoked_') ? { kind: 'revoked', keyId: 'revoked' } : { kind: 'unknown' };
}
