import { type Pump, RunOutbox } from '@iop/link';
import type { EndStore } from '../../ports/end-store.ts';
import type { Log } from '../../ports/log.ts';
import { fromKeptEnd } from './kept-end.ts';
import { WireChannel } from './wire-channel.ts';

/** Channels of the attempts whose ends an earlier process has kept (K5), one a run; an older attempt of a run is forgotten. */
export function restoreChannels(deps: { ends: EndStore; pump: Pump; log: Log }): WireChannel[] {
  const { ends, pump, log } = deps;
  const channels = new Map<string, WireChannel>();
  for (const kept of ends.kept()) {
    const { runId, attempt } = kept;
    const restored = fromKeptEnd(kept);
    const other = channels.get(runId);
    if (restored === undefined) {
      log.error({ run: runId, attempt }, 'a kept end is not of this version; it is given up');
      ends.forget(kept);
    } else if (other !== undefined && other.outbox.attempt > attempt) ends.forget(kept);
    else {
      if (other !== undefined) ends.forget(other.outbox);
      const { firstSeq, events, end } = restored;
      const outbox = RunOutbox.restore({ runId, attempt, pump, firstSeq, events });
      channels.set(runId, new WireChannel({ outbox, onEnd() {}, endKind: end.kind }));
    }
  }
  if (channels.size > 0) log.info({ ends: channels.size }, 'ends that no edge has taken are kept for it');
  return [...channels.values()];
}
