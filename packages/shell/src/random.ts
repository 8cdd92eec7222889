import { randomBytes as cryptoRandomBytes } from 'node:crypto';
import { type Clock, formatRunId } from '@iop/domain';

/** From the system's secure source. */
export function randomBytes(length: number): Uint8Array {
  return cryptoRandomBytes(length);
}

const idBytes = 10;
const poolBytes = idBytes * 64;

/** Gives run ids. Randomness is fetched for 64 of them at once: one call costs more than the rest. */
export function createRunIdSource(clock: Clock): () => string {
  let pool = new Uint8Array(0);
  let used = 0;
  return () => {
    if (used === pool.length) {
      pool = randomBytes(poolBytes) as Uint8Array<ArrayBuffer>;
      used = 0;
    }
    const random = pool.subarray(used, used + idBytes);
    used += idBytes;
    return formatRunId(clock.wall(), random);
  };
}
