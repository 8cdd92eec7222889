/** `node bench/profile/top.ts [--skip-s N] FILE…`: the functions of CPU profiles with most self time. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatTable } from '../report/table.ts';
import { type CpuProfile, rankSelfTime } from './self-time.ts';

const shown = 25;

const { values, positionals } = parseArgs({
  options: { 'skip-s': { type: 'string', default: '0' } },
  allowPositionals: true,
});
for (const file of positionals) {
  const ranked = rankSelfTime(
    JSON.parse(readFileSync(file, 'utf8')) as CpuProfile,
    Number(values['skip-s']) * 1000,
  );
  const lines = ranked
    .slice(0, shown)
    .map(({ name, selfUs, share }) => [name, (selfUs / 1000).toFixed(0), (100 * share).toFixed(1)]);
  console.log(`${file}\n${formatTable(['function', 'self ms', '%'], lines)}`);
}
