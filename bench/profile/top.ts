/** `node bench/profile/top.ts FILE…`: the functions of CPU profiles with most self time. */
import { readFileSync } from 'node:fs';
import { formatTable } from '../report/table.ts';
import { type CpuProfile, rankSelfTime } from './self-time.ts';

const shown = 25;

for (const file of process.argv.slice(2)) {
  const ranked = rankSelfTime(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile);
  const lines = ranked
    .slice(0, shown)
    .map(({ name, selfUs, share }) => [name, (selfUs / 1000).toFixed(0), (100 * share).toFixed(1)]);
  console.log(`${file}\n${formatTable(['function', 'self ms', '%'], lines)}`);
}
