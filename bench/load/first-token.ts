import { readCpuNs } from '../machine/cpu-time.ts';
import { listTree } from '../machine/process-tree.ts';
import { Failures } from './failures.ts';
import type { FirstToken, StreamResult } from './messages.ts';
import { chatRequest } from './request.ts';
import { StreamClient } from './stream-client.ts';
import { StreamMeter } from './stream-meter.ts';

/** One stream at a time: what one person sees of the way, without queueing. */
export async function runFirstToken(command: FirstToken): Promise<StreamResult> {
  const meter = new StreamMeter();
  const failures = new Failures();
  const pids = listTree(command.place.pids);
  const startMs = performance.now();
  const startCpuNs = readCpuNs(pids);
  meter.openWindow();
  await runOneByOne(command, meter, failures);
  const cpuNs = readCpuNs(pids) - startCpuNs;
  return { windowMs: performance.now() - startMs, cpuNs, ...meter.result(), ...failures.report() };
}

function runOneByOne(command: FirstToken, meter: StreamMeter, failures: Failures): Promise<void> {
  const { frames, paceMs, delayMs } = command;
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = command.count;
  const client = new StreamClient({
    port: command.place.port,
    request: chatRequest(command.place, 256, { frames, paceMs, delayMs }),
    frames,
    meter,
    onOver: (problem) => {
      if (problem !== undefined) failures.add(problem);
      if (problem === undefined && --left > 0) client.send();
      else resolve();
    },
  });
  const deadline = setTimeout(() => client.close(), command.count * (frames * paceMs + delayMs + 200) + 2000);
  client.send();
  return promise.finally(() => {
    clearTimeout(deadline);
    client.close();
  });
}
