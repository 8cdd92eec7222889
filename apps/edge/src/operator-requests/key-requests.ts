import {
  type CreateKeyRequest,
  CreateKeyResponseSchema,
  create,
  type KeyInfo,
  KeyInfoSchema,
  KeyPolicySchema,
  ListKeysResponseSchema,
  RevokeKeyResponseSchema,
  type SetKeyRequest,
  SetKeyResponseSchema,
  type KeyPolicy as WirePolicy,
  KeyRole as WireRole,
} from '@iop/wire';
import type { KeyPolicy, KeyRole, StoredKey } from '../ports/key-store.ts';
import type { OperatorEdge as Edge, Response } from './question.ts';
import { refusal } from './refusals.ts';

export async function createKey(edge: Edge, { name, policy }: CreateKeyRequest): Promise<Response> {
  const { key, secret } = await edge.createKey(name, fromPolicy(policy));
  return { case: 'createKey', value: create(CreateKeyResponseSchema, { key: toKeyInfo(edge, key), secret }) };
}

export function listKeys(edge: Edge): Response {
  const keys = edge.listKeys().map((key) => toKeyInfo(edge, key));
  return { case: 'listKeys', value: create(ListKeysResponseSchema, { keys }) };
}

export async function setKey(edge: Edge, { id, name, policy }: SetKeyRequest): Promise<Response> {
  const change = { name: name === '' ? undefined : name, policy: fromPolicy(policy) };
  const key = await edge.setKey(id, change);
  if (key === undefined) return unknownKey(id);
  return { case: 'setKey', value: create(SetKeyResponseSchema, { key: toKeyInfo(edge, key) }) };
}

export async function revokeKey(edge: Edge, id: string): Promise<Response> {
  const key = await edge.revokeKey(id);
  if (key === undefined) return unknownKey(id);
  return { case: 'revokeKey', value: create(RevokeKeyResponseSchema, { key: toKeyInfo(edge, key) }) };
}

function unknownKey(id: string): Response {
  const message = `no key ${id} is known here; \`iop keys\` lists them`;
  return { case: 'failure', value: refusal('not-found', 'key.unknown', message) };
}

function fromPolicy(policy: WirePolicy | undefined): KeyPolicy | undefined {
  if (policy === undefined) return undefined;
  const { targets, concurrency, rateRuns: runs, ratePerMs: perMs, burst, expiresAt } = policy;
  return {
    targets,
    concurrency,
    rate: runs === 0 ? undefined : { runs, perMs, burst: burst === 0 ? runs : burst },
    expiresAtMs: /^\d+$/.test(expiresAt) ? Number(expiresAt) : undefined,
    ...roleOf(policy),
  };
}

/** A caller's is not written down. */
function roleOf({ role }: WirePolicy): { role?: KeyRole } {
  const known = roles.get(role);
  return known === undefined || known === 'caller' ? {} : { role: known };
}

const roles: ReadonlyMap<WireRole, KeyRole> = new Map([
  [WireRole.CALLER, 'caller'],
  [WireRole.OPERATOR, 'operator'],
  [WireRole.ADMIN, 'admin'],
]);

function toKeyInfo(edge: Edge, key: StoredKey): KeyInfo {
  const { id, name, createdAtMs, revokedAtMs, policy } = key;
  return create(KeyInfoSchema, {
    id,
    name,
    createdAt: String(createdAtMs),
    revoked: revokedAtMs !== undefined,
    ...edge.keyStanding(key),
    ...(policy === undefined ? {} : { policy: toPolicy(policy) }),
  });
}

function toPolicy({ targets, concurrency, rate, expiresAtMs, role = 'caller' }: KeyPolicy): WirePolicy {
  return create(KeyPolicySchema, {
    targets: [...targets],
    concurrency,
    rateRuns: rate?.runs ?? 0,
    ratePerMs: rate?.perMs ?? 0,
    burst: rate?.burst ?? 0,
    expiresAt: expiresAtMs === undefined ? '' : String(expiresAtMs),
    role: [...roles].find(([, known]) => known === role)?.[0] ?? WireRole.CALLER,
  });
}
