import {
  create,
  type KeyInfo,
  KeyPolicySchema,
  type KeyPolicy as WirePolicy,
  KeyRole as WireRole,
} from '@iop/wire';
import { fromTime } from './views.ts';

export interface KeyView {
  id: string;
  name: string;
  createdAtMs: number | undefined;
  revoked: boolean;
  /** Its time is over. */
  expired: boolean;
  /** Runs of it that hold a place now. */
  running: number;
  policy: KeyPolicy;
}

/** What a key may do. */
export interface KeyPolicy {
  /** Public names, `adapter/name`, with `*` for any text; empty: every target. */
  targets: readonly string[];
  /** Runs at once; 0: no limit. */
  concurrency: number;
  /** `burst` of them may come at once. */
  rate: { runs: number; perMs: number; burst: number } | undefined;
  /** Milliseconds since 1970; undefined: never. */
  expiresAtMs: number | undefined;
  role: KeyRole;
}

/** caller: the doors under /v1; operator: the management API too, but for changing keys; admin: all of it. */
export const keyRoles = ['caller', 'operator', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

export const noLimits: KeyPolicy = {
  targets: [],
  concurrency: 0,
  rate: undefined,
  expiresAtMs: undefined,
  role: 'caller',
};

export function toKeyView(info: KeyInfo): KeyView {
  const { id, name, revoked, expired, running, policy } = info;
  const createdAtMs = fromTime(info.createdAt);
  return { id, name, createdAtMs, revoked, expired, running, policy: fromPolicy(policy) };
}

function fromPolicy(policy: WirePolicy | undefined): KeyPolicy {
  if (policy === undefined) return noLimits;
  const { targets, concurrency, rateRuns: runs, ratePerMs: perMs, burst, expiresAt } = policy;
  const rate = runs === 0 ? undefined : { runs, perMs, burst };
  const role = roles.find(([, wire]) => wire === policy.role)?.[0] ?? 'caller';
  return { targets: [...targets], concurrency, rate, expiresAtMs: fromTime(expiresAt), role };
}

const roles: readonly (readonly [KeyRole, WireRole])[] = [
  ['caller', WireRole.CALLER],
  ['operator', WireRole.OPERATOR],
  ['admin', WireRole.ADMIN],
];

export function toPolicy({ targets, concurrency, rate, expiresAtMs, role }: KeyPolicy): WirePolicy {
  return create(KeyPolicySchema, {
    targets: [...targets],
    concurrency,
    rateRuns: rate?.runs ?? 0,
    ratePerMs: rate?.perMs ?? 0,
    burst: rate?.burst ?? 0,
    expiresAt: expiresAtMs === undefined ? '' : String(expiresAtMs),
    role: roles.find(([known]) => known === role)?.[1] ?? WireRole.CALLER,
  });
}
