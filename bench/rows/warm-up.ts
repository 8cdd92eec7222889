import type { Target } from '../targets/target.ts';
import type { RowContext } from './row.ts';

/** Lets every program compile its hot paths before the clock runs; what comes of it is not looked at. */
export async function warmUp(targets: readonly Target[], context: RowContext): Promise<void> {
  const { load, scale } = context;
  for (const { place } of targets) {
    const windowMs = scale.warmUpMs;
    await load.run({ kind: 'closed-loop', place, connections: 32, bodyBytes: 10_240, warmMs: 0, windowMs });
    await load.run({ kind: 'streams', place, streams: 50, paceMs: 10, rampMs: 100, windowMs });
  }
}
