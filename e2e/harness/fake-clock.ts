import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where Debian's and Fedora's packages `faketime` and `libfaketime` put it. */
const places = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (triple) => `/usr/lib/${triple}/faketime/libfaketime.so.1`,
);
const library = [...places, '/usr/lib64/faketime/libfaketime.so.1'].find((path) => existsSync(path));

/** Why there is no fake clock here; undefined: there is. */
export const noFakeClock = library === undefined ? 'wants libfaketime (apt-get install faketime)' : undefined;

const cacheMs = 1_000;

/** The wall clock of one process, which can be set while it runs. Its monotonic clock goes on, as the kernel's does. */
export interface FakeClock {
  readonly env: Record<string, string>;
  /** By so much from now on, against the true time: `+2h`, `-30m`, `+0`. Resolves when the process sees it. */
  set(offset: string): Promise<void>;
}

export function createFakeClock(dir: string, name: string): FakeClock {
  const file = join(dir, `${name}.clock`);
  writeFileSync(file, '+0\n');
  return {
    env: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_CACHE_DURATION: String(cacheMs / 1_000),
    },
    async set(offset) {
      writeFileSync(file, `${offset}\n`);
      await sleep(cacheMs * 2);
    },
  };
}
