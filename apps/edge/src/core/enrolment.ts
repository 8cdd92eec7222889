import type { StoredIdentity } from '../ports/identity-store.ts';

/** What is known when somebody has proven to hold the private key of `publicKey`. */
export interface Applicant {
  role: 'node' | 'agent' | 'edge' | 'operator' | 'other';
  name: string;
  nameIsValid: boolean;
  publicKey: Uint8Array;
  lastEpoch: number;
  /** `none`: none was sent. */
  token: 'right' | 'wrong' | 'none';
  /** By the mode of a socket file; no token is needed. */
  isLocal: boolean;
}

export type AdmissionPlan =
  /** Save `identity` first, then welcome. */
  | { kind: 'welcome-identity'; identity: StoredIdentity }
  | { kind: 'welcome-operator' }
  | { kind: 'reject'; code: string; message: string };

/**
 * Who may link (E11). Pure: the caller stores what the plan says before it answers. Clones are judged by
 * the acceptor of `@iop/link`, which knows the live links.
 */
export function planAdmission(applicant: Applicant, stored: StoredIdentity | undefined): AdmissionPlan {
  const { role, name } = applicant;
  if (role === 'operator') return planOperator(applicant);
  if (!applicant.nameIsValid) {
    const shown = JSON.stringify(name.slice(0, 80));
    return reject('identity.name-invalid', `${shown} is no name: lower case letters, digits, . _ -`);
  }
  if (role !== 'node' || applicant.isLocal) {
    return reject('identity.role-not-served', `this listener of the Edge does not serve the role ${role}`);
  }
  return stored === undefined ? planEnrolment(applicant) : planReturn(applicant, stored);
}

function planOperator({ token, isLocal }: Applicant): AdmissionPlan {
  if (isLocal || token === 'right') return { kind: 'welcome-operator' };
  return token === 'none'
    ? reject('identity.token-missing', 'an operator needs the operator token: give --token-file')
    : reject(
        'identity.token-wrong',
        'the operator token is wrong: see operator.token in the Edge’s state_dir',
      );
}

function planEnrolment({ name, token, publicKey, lastEpoch }: Applicant): AdmissionPlan {
  if (token === 'none') {
    const hint = 'set edge.token_file in node.yaml to a copy of the Edge’s node.token';
    return reject('identity.unknown', `Node ${name} is not known to this Edge and sent no token; ${hint}`);
  }
  if (token === 'wrong') {
    return reject('identity.token-wrong', `the token of Node ${name} is not this Edge’s node.token`);
  }
  const epoch = nextEpoch(0, lastEpoch);
  return { kind: 'welcome-identity', identity: { role: 'node', name, publicKey, epoch } };
}

function planReturn({ name, publicKey, lastEpoch }: Applicant, stored: StoredIdentity): AdmissionPlan {
  if (!isSameKey(publicKey, stored.publicKey)) {
    const hint = 'choose another name, or bring back its identity.key';
    return reject('identity.key-mismatch', `Node ${name} is known to this Edge by another key; ${hint}`);
  }
  const epoch = nextEpoch(stored.epoch, lastEpoch);
  return { kind: 'welcome-identity', identity: { role: 'node', name, publicKey, epoch } };
}

/** Above both, so that a restored state of the Edge never gives an epoch twice; absurd claims are ignored. */
function nextEpoch(storedEpoch: number, claimedEpoch: number): number {
  return Math.max(storedEpoch, claimedEpoch < 2 ** 31 ? claimedEpoch : 0) + 1;
}

function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function reject(code: string, message: string): AdmissionPlan {
  return { kind: 'reject', code, message };
}
