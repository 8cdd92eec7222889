import type { Target } from '../targets/target.ts';
import type { RowContext } from './row.ts';

/**
 * Brings every program to the state in which a server spends its life; what comes of it is not looked at.
 * V8 goes on compiling for some 40,000 requests: measured before that, half of a Node program's CPU time is the compiler's.
 */
export async function warmUp(targets: readonly Target[], context: RowContext): Promise<void> {
  const { load, scale } = context;
  const windowMs = scale.warmUpMs / 4;
  for (const { place } of targets) {
    for (const bodyBytes of [256, 10_240]) {
      await load.run({ kind: 'closed-loop', place, connections: 32, bodyBytes, warmMs: 0, windowMs });
    }
    await load.run({ kind: 'streams', place, streams: 100, paceMs: 20, rampMs: 100, windowMs: 2 * windowMs });
  }
}
