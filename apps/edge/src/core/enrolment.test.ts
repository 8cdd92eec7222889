import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Applicant, planAdmission } from './enrolment.ts';

const keyA = new Uint8Array(32).fill(1);
const keyB = new Uint8Array(32).fill(2);

function applicant(over: Partial<Applicant> = {}): Applicant {
  const all = { name: 'gpu-1', nameIsValid: true, publicKey: keyA, lastEpoch: 0, isLocal: false };
  return { role: 'node', token: 'right', ...all, ...over };
}

const known = { role: 'node', name: 'gpu-1', publicKey: keyA, epoch: 7 } as const;

function codeOf(who: Applicant, stored?: typeof known): string {
  const plan = planAdmission(who, stored);
  return plan.kind === 'reject' ? plan.code : plan.kind;
}

test('an unknown Node with the token is enrolled with its key', () => {
  const plan = planAdmission(applicant(), undefined);
  const identity = { role: 'node', name: 'gpu-1', publicKey: keyA, epoch: 1 };
  assert.deepEqual(plan, { kind: 'welcome-identity', identity });
});

test('an unknown Node without the token is refused', () => {
  assert.equal(codeOf(applicant({ token: 'none' })), 'identity.unknown');
  assert.equal(codeOf(applicant({ token: 'wrong' })), 'identity.token-wrong');
});

test('a known Node needs no token, whatever it sends', () => {
  for (const token of ['none', 'wrong', 'right'] as const) {
    assert.equal(codeOf(applicant({ token }), known), 'welcome-identity');
  }
});

test('a known name with another key is refused, also with the right token', () => {
  assert.equal(codeOf(applicant({ publicKey: keyB }), known), 'identity.key-mismatch');
});

test('E11: an epoch is above the stored one and above the one that the Node remembers', () => {
  for (const [lastEpoch, epoch] of [
    [0, 8],
    [7, 8],
    [20, 21],
    [2 ** 32 - 1, 8],
  ] as const) {
    const plan = planAdmission(applicant({ lastEpoch }), known);
    assert.equal(plan.kind === 'welcome-identity' && plan.identity.epoch, epoch);
  }
});

test('an operator needs the token over the network and none on the local socket', () => {
  assert.equal(codeOf(applicant({ role: 'operator' })), 'welcome-operator');
  assert.equal(codeOf(applicant({ role: 'operator', token: 'none' })), 'identity.token-missing');
  assert.equal(codeOf(applicant({ role: 'operator', token: 'wrong' })), 'identity.token-wrong');
  assert.equal(codeOf(applicant({ role: 'operator', token: 'none', isLocal: true })), 'welcome-operator');
});

test('roles that are not served here, and names that are none, are refused', () => {
  for (const role of ['agent', 'edge', 'other'] as const) {
    assert.equal(codeOf(applicant({ role })), 'identity.role-not-served');
  }
  assert.equal(codeOf(applicant({ isLocal: true })), 'identity.role-not-served');
  assert.equal(codeOf(applicant({ nameIsValid: false })), 'identity.name-invalid');
});
