import type { Ask } from './history/ask.ts';
import type { FaultNote, Trouble } from './history/history.ts';
import { wallMs } from './wall.ts';

/** What is written down while the soak goes on. */
export interface Diary {
  readonly asks: Ask[];
  readonly faults: FaultNote[];
  readonly troubles: Trouble[];
  trouble(what: string): void;
}

export function openDiary(): Diary {
  const diary: Diary = {
    asks: [],
    faults: [],
    troubles: [],
    trouble: (what) => void diary.troubles.push({ atMs: wallMs(), what }),
  };
  return diary;
}
