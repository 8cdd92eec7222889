/** What a measured request asks of the mock; it travels in the prompt, which every gateway passes on. */
export interface Script {
  /** Content frames; 0: until `POST /bench/finish`. */
  frames: number;
  paceMs: number;
  /** From the request to the first frame. */
  delayMs: number;
}

const pattern = /bench frames=(\d+) pace=(\d+) delay=(\d+)/;

export function formatScript(script: Script): string {
  return `bench frames=${script.frames} pace=${script.paceMs} delay=${script.delayMs}`;
}

export function parseScript(body: Buffer): Script {
  const from = Math.max(0, body.indexOf('bench frames='));
  const match = pattern.exec(body.toString('latin1', from, Math.min(body.length, from + 100)));
  if (match === null) return { frames: 1, paceMs: 1, delayMs: 0 };
  return { frames: Number(match[1]), paceMs: Number(match[2]), delayMs: Number(match[3]) };
}
