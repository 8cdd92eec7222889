import type { Clock } from '@iop/domain';
import type { KeyStore } from '../ports/key-store.ts';
import type { Catalogue } from './catalogue.ts';
import type { ModelInfo, RunSelect } from './door.ts';
import { KeyGate } from './key-gate.ts';
import type { TargetRef } from './target-book.ts';

/** What keys may do, as the doors ask it. */
export interface KeyAccess {
  /** undefined: no key, so nothing limits it. */
  gateOf(keyId: string): KeyGate | undefined;
  /** A policy has changed. */
  refresh(keyId: string): void;
  /** True also for what does not exist: that is said in other words. */
  mayUse(gate: KeyGate, select: RunSelect): boolean;
  /** Of all models those that it may use. */
  models(keyId: string | undefined): readonly ModelInfo[];
  /** Known names near to `asked`, none that it may not use. */
  nearest(gate: KeyGate, asked: string): readonly string[];
}

export interface KeyAccessDeps {
  clock: Clock;
  store: Pick<KeyStore, 'find'>;
  catalogue: Catalogue;
}

export function createKeyAccess({ clock, store, catalogue }: KeyAccessDeps): KeyAccess {
  const gates = new Map<string, KeyGate>();

  function gateOf(keyId: string): KeyGate | undefined {
    const known = gates.get(keyId);
    if (known !== undefined) return known;
    const key = store.find(keyId);
    if (key === undefined) return undefined;
    const gate = new KeyGate(keyId, key.policy, clock.now());
    gates.set(keyId, gate);
    return gate;
  }

  function mayUse(gate: KeyGate, select: RunSelect): boolean {
    if (!gate.isRestricted) return true;
    const asked = select.kind === 'model' ? select.model : `${select.adapter}/${select.target}`;
    return gate.remember(asked, catalogue.version, () => judge(gate, select, asked));
  }

  /** A name that is allowed itself, or behind which nothing is that is not. */
  function judge(gate: KeyGate, select: RunSelect, asked: string): boolean {
    if (gate.allowsName(asked)) return true;
    const found = catalogue.resolve(select);
    return found.kind === 'unknown' || found.refs.every((ref) => allowsRef(gate, ref));
  }

  function allowsRef(gate: KeyGate, ref: TargetRef): boolean {
    const names = [ref.target, ...catalogue.namesOf(ref)];
    return (
      catalogue.namesOf(ref).some((name) => gate.allowsName(name)) ||
      names.some((name) => gate.allowsName(`${ref.adapter}/${name}`))
    );
  }

  const mayUseModel = (gate: KeyGate, model: string) => mayUse(gate, { kind: 'model', model });

  return {
    gateOf,
    refresh: (keyId) => gates.get(keyId)?.adopt(store.find(keyId)?.policy, clock.now()),
    mayUse,
    models(keyId) {
      const gate = keyId === undefined ? undefined : gateOf(keyId);
      const all = catalogue.models();
      return gate?.isRestricted ? all.filter((model) => mayUseModel(gate, model.name)) : all;
    },
    nearest: (gate, asked) => catalogue.nearest(asked, (name) => mayUseModel(gate, name)),
  };
}
