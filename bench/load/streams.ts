import { readCpuNs } from '../machine/cpu-time.ts';
import { listTree } from '../machine/process-tree.ts';
import { Failures } from './failures.ts';
import type { StreamLoad, StreamResult } from './messages.ts';
import { chatRequest } from './request.ts';
import { sleep } from './sleep.ts';
import { StreamClient } from './stream-client.ts';
import { StreamMeter } from './stream-meter.ts';

const settleMs = 200;
const delayMs = 5;
const bodyBytes = 256;

/** Opens all streams, measures while all are open, then reads each to its end. */
export async function runStreams(command: StreamLoad): Promise<StreamResult> {
  const meter = new StreamMeter();
  const failures = new Failures();
  const clients = new Set<StreamClient>();
  const frames = Math.ceil((command.rampMs + settleMs + command.windowMs) / command.paceMs) + 5;
  await openAll(command, { frames, meter, failures, clients });
  await sleep(settleMs);
  const window = await measureWindow(command, meter);
  await drain(clients, failures, command);
  return { ...window, ...meter.result(), ...failures.report() };
}

interface Cell {
  frames: number;
  meter: StreamMeter;
  failures: Failures;
  clients: Set<StreamClient>;
}

async function openAll(command: StreamLoad, cell: Cell): Promise<void> {
  const script = { frames: cell.frames, paceMs: command.paceMs, delayMs };
  const request = chatRequest(command.place, bodyBytes, script);
  const startMs = performance.now();
  for (let opened = 0; opened < command.streams; ) {
    const share = Math.min(1, (performance.now() - startMs) / command.rampMs);
    for (const due = Math.ceil(share * command.streams); opened < due; opened++)
      openOne(command, cell, request);
    await sleep(1);
  }
}

function openOne(command: StreamLoad, cell: Cell, request: Buffer): void {
  const client = new StreamClient({
    port: command.place.port,
    request,
    frames: cell.frames,
    meter: cell.meter,
    onOver: (problem) => {
      if (problem !== undefined) cell.failures.add(problem);
      cell.clients.delete(client);
      client.close();
    },
  });
  cell.clients.add(client);
  client.send();
}

async function measureWindow(
  command: StreamLoad,
  meter: StreamMeter,
): Promise<{ windowMs: number; cpuNs: number }> {
  const pids = listTree(command.place.pids);
  const startMs = performance.now();
  const startCpuNs = readCpuNs(pids);
  meter.openWindow();
  await sleep(command.windowMs);
  meter.closeWindow();
  const cpuNs = readCpuNs(pids) - startCpuNs;
  return { windowMs: performance.now() - startMs, cpuNs };
}

/** An overloaded target may take longer; one that has not ended by then has lost frames. */
async function drain(clients: Set<StreamClient>, failures: Failures, command: StreamLoad): Promise<void> {
  const limitMs = 2000 + 2 * (command.rampMs + command.windowMs);
  for (let waitedMs = 0; clients.size > 0 && waitedMs < limitMs; waitedMs += 10) await sleep(10);
  for (const client of clients) {
    failures.add(`not ended ${limitMs} ms after the window`);
    client.close();
  }
}
