import type { Clock } from '@iop/domain';
import type { Log } from '@iop/shell';

const gapMs = 10_000;

/** Says that newcomers are turned away: the first one at once, then a sum every ten seconds while it goes on. */
export function createRefusalLog(log: Log, clock: Clock): (why: string) => void {
  let turnedAway = 0;
  let isWaiting = false;

  function tell(why: string): void {
    if (turnedAway === 0) {
      isWaiting = false;
      return;
    }
    log.error({ why, turnedAway }, 'connections to the wire port are turned away');
    turnedAway = 0;
    isWaiting = true;
    clock.after(gapMs, () => tell(why));
  }

  return (why) => {
    turnedAway++;
    if (!isWaiting) tell(why);
  };
}
