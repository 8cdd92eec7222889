import { createHash, timingSafeEqual } from 'node:crypto';
import { isName, toIopError } from '@iop/domain';
import type { Admission, ProvenPeer } from '@iop/link';
import { Role } from '@iop/wire';
import { type Applicant, planAdmission } from '../core/enrolment.ts';
import type { IdentityStore } from '../ports/identity-store.ts';

export interface AdmitDeps {
  identities: IdentityStore;
  nodeToken: string;
  operatorToken: string;
  /** Smallest interval of pings. */
  heartbeatMs(): number;
  /** Nodes that may come back at once. */
  fleetSize(): number;
}

const storeRetryMs = 2000;

/** Decides who may link. E11: the epoch is on the disk before anybody is welcomed. */
export function createAdmit(deps: AdmitDeps): (peer: ProvenPeer) => Promise<Admission> {
  const tokens = { node: digest(deps.nodeToken), operator: digest(deps.operatorToken) };
  let operators = 0;

  function welcome(epoch: number): Admission {
    const fleetSize = deps.fleetSize();
    // max(10 s, fleet / 1000 s): a large fleet pings less often
    return {
      kind: 'welcome',
      epoch,
      heartbeatIntervalMs: Math.max(deps.heartbeatMs(), fleetSize),
      fleetSize,
    };
  }

  return async (peer) => {
    const { hello } = peer;
    const role = roleOf(hello.role);
    const expected = role === 'operator' ? tokens.operator : tokens.node;
    const stored = role === 'node' ? deps.identities.find('node', hello.identity) : undefined;
    const plan = planAdmission(toApplicant(peer, role, expected), stored);
    if (plan.kind === 'reject') return { ...plan, retryAfterMs: 0 };
    if (plan.kind === 'welcome-operator') return welcome(++operators);
    try {
      await deps.identities.save(plan.identity);
    } catch (reason) {
      const { code, message } = toIopError(reason);
      return {
        kind: 'reject',
        code,
        message: `the Edge cannot admit now: ${message}`,
        retryAfterMs: storeRetryMs,
      };
    }
    return welcome(plan.identity.epoch);
  };
}

function toApplicant(
  { hello, token, transport }: ProvenPeer,
  role: Applicant['role'],
  expected: Buffer,
): Applicant {
  return {
    role,
    name: hello.identity,
    nameIsValid: isName(hello.identity),
    publicKey: hello.publicKey,
    lastEpoch: hello.lastEpoch,
    token: token === '' ? 'none' : timingSafeEqual(digest(token), expected) ? 'right' : 'wrong',
    isLocal: transport.kind === 'unix',
  };
}

function roleOf(role: Role): Applicant['role'] {
  if (role === Role.NODE) return 'node';
  if (role === Role.OPERATOR) return 'operator';
  if (role === Role.AGENT) return 'agent';
  return role === Role.EDGE ? 'edge' : 'other';
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
