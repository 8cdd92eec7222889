import type { LoadFigures } from './store-load.ts';

/** What the program that holds the store is asked for. */
export interface StoreOrder {
  eventsPerS: number;
  durationMs: number;
}

export interface PaceFigures extends LoadFigures {
  cpuUsPerEvent: number;
}
