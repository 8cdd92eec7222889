import type { Dialect } from '@iop/runtime';
import type { Pick } from './choose-place.ts';
import type { RunSelect } from './door.ts';
import type { KeyGate } from './key-gate.ts';

/** What a run needs of a place. */
export interface Demand {
  readonly select: RunSelect;
  readonly dialect: Dialect;
  /** Ids of places that must not get it. */
  readonly excluded: readonly string[];
  /** Which has to have room first; undefined: nothing limits it, or it holds its key's place already. */
  readonly key?: KeyGate | undefined;
}

export interface Waiter {
  /** Grows with every run: the smaller goes first. */
  readonly order: number;
  readonly demand: Demand;
  /** Called once, when a place was taken for it and it has left the line. */
  grant(pick: Pick): void;
}

/**
 * First in, first out among those that want the same; of several heads the oldest that can go, goes (E4). Whoever
 * waits for its key is no head and holds up nobody (E17). Whoever leaves is out at once (E5).
 */
export interface WaitingLine {
  readonly length: number;
  join(waiter: Waiter): void;
  /** False: it was not in line. */
  leave(waiter: Waiter): boolean;
  /** Of each group that wants the same the oldest whose key has room. */
  heads(): Waiter[];
  all(): Waiter[];
}

export function createWaitingLine(): WaitingLine {
  const groups = new Map<string, Waiter[]>();
  let length = 0;

  return {
    get length() {
      return length;
    },
    join(waiter) {
      const key = keyOf(waiter.demand);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [waiter]);
      else insert(group, waiter);
      length++;
    },
    leave(waiter) {
      const key = keyOf(waiter.demand);
      const group = groups.get(key);
      const index = group?.indexOf(waiter) ?? -1;
      if (group === undefined || index < 0) return false;
      group.splice(index, 1);
      if (group.length === 0) groups.delete(key);
      length--;
      return true;
    },
    heads() {
      const heads: Waiter[] = [];
      for (const group of groups.values()) {
        const head = group.find(({ demand }) => demand.key === undefined || demand.key.hasRoom());
        if (head !== undefined) heads.push(head);
      }
      return heads;
    },
    all: () => [...groups.values()].flat(),
  };
}

/** Nearly always at the end; a run that had a place before is older and goes in front. */
function insert(group: Waiter[], waiter: Waiter): void {
  let at = group.length;
  while (at > 0 && (group[at - 1]?.order ?? 0) > waiter.order) at--;
  group.splice(at, 0, waiter);
}

function keyOf({ select, dialect, excluded }: Demand): string {
  const wanted =
    select.kind === 'model'
      ? `m\0${select.model}`
      : `t\0${select.adapter}\0${select.target}\0${select.node ?? ''}`;
  return `${wanted}\0${dialect}\0${excluded.join(',')}`;
}
