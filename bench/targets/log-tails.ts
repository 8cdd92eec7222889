import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends of the log files in a folder, for whoever has to find out why something did not start. */
export function logTails(dir: string): string {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `--- ${name}\n${readFileSync(join(dir, name), 'utf8').slice(-3000)}`)
    .join('\n');
}
