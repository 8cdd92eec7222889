import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestClock } from '@iop/link/testing';
import { type AdapterHarness, type AdapterScenario, adapterContract } from '@iop/runtime/testing';
import { chatSpec } from '../../../testing/specs.ts';
import { createCliAdapter } from './cli-adapter.ts';
import { alive, shProfile } from './cli-fixture.ts';
import { OrphanLedger } from './orphan-ledger.ts';

/** Each ends by itself within 30 s, whatever becomes of the test. */
const scripts: Readonly<Record<AdapterScenario, string>> = {
  short: 'echo hello; echo world',
  paced: 'for i in $(seq 2500); do echo "$i"; sleep 0.01; done',
  silent: 'exec sleep 25',
  flood: 'head -c 5242880 /dev/zero | tr "\\0" x',
  cut: 'echo hello; kill -9 $$',
  refused: 'echo no >&2; exit 3',
  garbled: 'printf hello; sleep 0.1; printf "\\377\\376"',
};

async function setup(): Promise<AdapterHarness> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'iop-cli-')));
  const marks: string[] = [];
  const profiles = new Map(
    Object.entries(scripts).map(([name, script]) => [name, shProfile(script, directory)]),
  );
  const allow = { adapters: ['cli'], programs: ['/bin/sh'], directories: [directory], hosts: [] };
  const adapter = createCliAdapter(
    { name: 'cli', profiles, allow },
    {
      clock: createTestClock(),
      ledger: new OrphanLedger(join(directory, 'ledger')),
      environment: process.env,
      newMark() {
        marks.push(Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex'));
        return marks.at(-1) as string;
      },
    },
  );
  return {
    adapter,
    spec: (scenario) => chatSpec(scenario),
    openWork: () => marks.filter((mark) => alive([mark]).length > 0).length,
    startedWork: () => marks.length,
    close: async () => rmSync(directory, { recursive: true }),
  };
}

adapterContract('cli', setup);
