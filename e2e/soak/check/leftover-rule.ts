import type { History } from '../history/history.ts';
import type { Rule } from './violation.ts';

const mostFilesMore = 30;
/** A Node.js program that was busy keeps a part of its heap. */
const mostBytesMore = 200 * 1024 * 1024;
/** Twice what a write-ahead log is cut back to, and what one transaction may add. */
const mostWalBytes = 64 * 1024 * 1024;

/** After the calm nothing is left, and nothing was wrong on the way. */
export const leftoverRule: Rule = ({ history }) =>
  findings(history)
    .filter(({ isWrong }) => isWrong)
    .map(({ rule, expected, found }) => ({ rule, expected, found }));

interface Finding {
  rule: string;
  isWrong: boolean;
  expected: string;
  found: string;
}

function findings({ left, troubles }: History): Finding[] {
  const lists = [
    { rule: 'no run is open after the calm', list: left.openRuns },
    { rule: 'no process is left', list: left.processes },
    { rule: 'nothing ends, or fails, by itself', list: troubles.map(({ atMs, what }) => `${atMs}: ${what}`) },
  ].map(({ rule, list }) => ({
    rule,
    isWrong: list.length > 0,
    expected: 'none',
    found: list.slice(0, 5).join('\n'),
  }));
  const upstreams = {
    rule: 'no upstream is left open',
    isWrong: left.openUpstreams > 0,
    expected: '0',
    found: String(left.openUpstreams),
  };
  return [...lists, upstreams, ...programFindings(left), ...storeFindings(left)];
}

function programFindings({ programs }: History['left']): Finding[] {
  return programs.flatMap(({ name, baseline, last }) => [
    {
      rule: 'files are closed',
      isWrong: last.files > baseline.files + mostFilesMore || last.files === 0,
      expected: `${name}: about ${baseline.files}`,
      found: String(last.files),
    },
    {
      rule: 'memory is given back',
      isWrong: last.residentBytes > baseline.residentBytes + mostBytesMore,
      expected: `${name}: about ${baseline.residentBytes} bytes`,
      found: String(last.residentBytes),
    },
  ]);
}

function storeFindings({ stores }: History['left']): Finding[] {
  return stores.flatMap(({ file, integrity, walBytes }) => [
    { rule: 'stores are whole', isWrong: integrity !== 'ok', expected: `${file}: ok`, found: integrity },
    {
      rule: 'write-ahead logs are bounded',
      isWrong: walBytes > mostWalBytes,
      expected: `${file}: at most ${mostWalBytes} bytes`,
      found: String(walBytes),
    },
  ]);
}
