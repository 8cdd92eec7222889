/**
 * The window of one attempt, in bytes of events (DESIGN.md E10).
 *
 * `held`: arrived, not yet passed on by the owner. `owed`: passed on, not yet given back to the Node.
 * The Node's credit is always `size − held − owed`, less what is on the way.
 */
export interface Window {
  readonly sizeBytes: number;
  heldBytes: number;
  owedBytes: number;
}

const smallestWindowBytes = 16 * 1024;

/** Windows shrink as their sum nears `capBytes`; the floor lets every run move. */
export function planWindow(wantedBytes: number, sumBytes: number, capBytes: number): number {
  const quarter = Math.floor((capBytes - sumBytes) / 4);
  const floor = Math.min(smallestWindowBytes, wantedBytes);
  return Math.max(floor, Math.min(wantedBytes, quarter));
}

export function createWindow(sizeBytes: number): Window {
  return { sizeBytes, heldBytes: 0, owedBytes: 0 };
}

export function receive(window: Window, sizeBytes: number): void {
  window.heldBytes += sizeBytes;
}

/** Bytes to give back to the Node now; 0 while less than a quarter of the window is owed. */
export function consume(window: Window, sizeBytes: number): number {
  const passed = Math.min(sizeBytes, window.heldBytes);
  window.heldBytes -= passed;
  window.owedBytes += passed;
  if (window.owedBytes * 4 < window.sizeBytes) return 0;
  const grant = window.owedBytes;
  window.owedBytes = 0;
  return grant;
}

/** The whole credit at this moment, for a resumed link; nothing is owed after it. */
export function resumeCredit(window: Window): number {
  window.owedBytes = 0;
  return Math.max(0, window.sizeBytes - window.heldBytes);
}
