/**
 * Identifiers. Pure: time and randomness are passed in.
 *
 * A run id is `run_` + 10 characters of milliseconds + 16 of randomness in Crockford base 32, so ids
 * sort by creation and can be read over a phone.
 */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const runIdPattern = /^run_[0-9a-hjkmnp-tv-z]{26}$/;

/** @param random at least 10 bytes */
export function formatRunId(timeMs: number, random: Uint8Array): string {
  return `run_${encodeTime(timeMs)}${encodeRandom(random)}`;
}

/** When the run was created: milliseconds since 1970. */
export function runIdTimeMs(runId: string): number {
  let timeMs = 0;
  for (const letter of runId.slice(4, 14)) timeMs = timeMs * 32 + alphabet.indexOf(letter);
  return timeMs;
}

export function isRunId(text: string): boolean {
  return runIdPattern.test(text);
}

function encodeTime(timeMs: number): string {
  let text = '';
  let rest = Math.floor(timeMs);
  for (let i = 0; i < 10; i++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (let i = 0; i < 10; i++) {
    held = (held << 8) | (bytes[i] ?? 0);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((held >> bits) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

/** Names of Nodes, Edges, adapters: what fits a URL path segment, a label and a file name. */
const namePattern = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

export function isName(text: string): boolean {
  return namePattern.test(text);
}
