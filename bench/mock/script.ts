/** What a measured request asks of the mock; it travels in the prompt, which every gateway passes on. */
export interface Script {
  /** Content frames; 0: until `POST /bench/finish`. */
  frames: number;
  paceMs: number;
  /** From the request to the first frame. */
  delayMs: number;
  /** So much text besides in each frame, as fast as the reader takes it: for readers that take nothing. */
  padBytes?: number;
}

const pattern = /bench frames=(\d+) pace=(\d+) delay=(\d+)(?: pad=(\d+))?/;

export function formatScript(script: Script): string {
  const { frames, paceMs, delayMs, padBytes = 0 } = script;
  const pad = padBytes > 0 ? ` pad=${padBytes}` : '';
  return `bench frames=${frames} pace=${paceMs} delay=${delayMs}${pad}`;
}

export function parseScript(body: Buffer): Script {
  const from = Math.max(0, body.indexOf('bench frames='));
  const match = pattern.exec(body.toString('latin1', from, Math.min(body.length, from + 100)));
  if (match === null) return { frames: 1, paceMs: 1, delayMs: 0 };
  const [frames = 1, paceMs = 1, delayMs = 0, padBytes = 0] = match.slice(1).map((text) => Number(text ?? 0));
  return { frames, paceMs, delayMs, padBytes };
}
