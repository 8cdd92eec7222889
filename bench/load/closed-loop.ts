import { readCpuNs } from '../machine/cpu-time.ts';
import { listTree } from '../machine/process-tree.ts';
import { answerMark } from '../mock/answers.ts';
import { Samples, summarize } from '../statistics.ts';
import { Connection } from './connection.ts';
import { Failures } from './failures.ts';
import type { ClosedLoop, LoopResult } from './messages.ts';
import { chatRequest } from './request.ts';
import { sleep } from './sleep.ts';

interface Loop {
  latencies: Samples;
  failures: Failures;
  stopping: boolean;
  open: number;
}

/** Each connection sends its next request when it has the last one's answer. */
export async function runClosedLoop(command: ClosedLoop): Promise<LoopResult> {
  const loop: Loop = { latencies: new Samples(), failures: new Failures(), stopping: false, open: 0 };
  const request = chatRequest(command.place, command.bodyBytes);
  for (let i = 0; i < command.connections; i++) startConnection(loop, command.place.port, request);
  await sleep(command.warmMs);
  const pids = listTree(command.place.pids);
  loop.latencies = new Samples();
  const startMs = performance.now();
  const startCpuNs = readCpuNs(pids);
  await sleep(command.windowMs);
  const cpuNs = readCpuNs(pids) - startCpuNs;
  const { latencies, failures } = loop;
  const windowMs = performance.now() - startMs;
  const latencyUs = summarize(latencies.values());
  await drain(loop);
  return { requests: latencyUs.count, windowMs, cpuNs, latencyUs, ...failures.report() };
}

function startConnection(loop: Loop, port: number, request: Buffer): void {
  let sentMs = 0;
  let status = 0;
  let whole = false;
  const send = (): void => {
    sentMs = performance.now();
    whole = false;
    connection.send(request);
  };
  const connection = new Connection(port, {
    status: (code) => {
      status = code;
    },
    body: (bytes) => {
      whole ||= bytes.includes(answerMark);
    },
    end: () => {
      loop.latencies.push((performance.now() - sentMs) * 1000);
      if (status !== 200 || !whole) loop.failures.add(`status ${status}, ${whole ? 'whole' : 'not whole'}`);
      if (loop.stopping) connection.close();
      else send();
    },
    closed: (reason) => {
      loop.open--;
      if (!loop.stopping) loop.failures.add(reason);
    },
  });
  loop.open++;
  send();
}

/** A request that never ends is a failed one. */
async function drain(loop: Loop): Promise<void> {
  loop.stopping = true;
  for (let waitedMs = 0; loop.open > 0 && waitedMs < 3000; waitedMs += 5) await sleep(5);
  for (let left = loop.open; left > 0; left--) loop.failures.add('no answer within 3 s after the window');
}
