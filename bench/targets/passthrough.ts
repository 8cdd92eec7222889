import { listeningPort, pidOf, startChild, stopChild } from '../machine/child.ts';
import type { Target, TargetContext } from './target.ts';

/** The least that a relay in Node can be: node:http in, undici dispatch out, one process, no features. */
export async function startPassthrough(context: TargetContext): Promise<Target> {
  const program = new URL('./passthrough-server.ts', import.meta.url).pathname;
  const child = startChild({
    name: 'passthrough',
    cpu: context.cpu,
    command: process.execPath,
    args: [program, String(context.mockPort)],
    ipc: true,
    logFd: context.openLog('passthrough'),
  });
  const port = await listeningPort(child, 'passthrough');
  const pid = pidOf(child, 'passthrough');
  return {
    name: 'passthrough',
    place: { port, path: '/v1/chat/completions', headers: {}, pids: [pid] },
    parts: [{ name: 'passthrough', pid }],
    stop: () => stopChild(child),
  };
}
