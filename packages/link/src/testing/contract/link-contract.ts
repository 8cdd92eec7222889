import { type TestContext, test } from 'node:test';
import { abuseContract } from './abuse-contract.ts';
import type { ContractSubject } from './contract-world.ts';
import { handshakeContract } from './handshake-contract.ts';
import { lifeContract } from './life-contract.ts';
import { transportContract } from './transport-contract.ts';

/** What a link promises, over whatever carries it: T1–T3 of `Transport` and L1–L10 of DESIGN.md. */
export function linkContract(name: string, subject: ContractSubject): void {
  const suite = (title: string, run: (t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { timeout: 30_000 }, run);
  };
  transportContract(suite, subject);
  handshakeContract(suite, subject);
  lifeContract(suite, subject);
  abuseContract(suite, subject);
}
