// A process full of simulated Nodes: `node fleet-main.ts PORT PIN TOKEN_FILE COUNT PREFIX`. Each thing that
// happens is one line of JSON on its output. Ends on SIGTERM.
import { readFileSync } from 'node:fs';
import { createSystemClock } from '@iop/shell';
import { runFleetNode } from './fleet-node.ts';

const [port = '', pin = '', tokenFile = '', count = '', prefix = ''] = process.argv.slice(2);
const token = readFileSync(tokenFile, 'utf8').trim();
const clock = createSystemClock();
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

await Promise.all(
  Array.from({ length: Number(count) }, (_nothing, index) =>
    runFleetNode(
      {
        name: `${prefix}-${index}`,
        port: Number(port),
        pin,
        token,
        clock,
        report: (event) => console.log(JSON.stringify(event)),
      },
      stopping.signal,
    ),
  ),
);
