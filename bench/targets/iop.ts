import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pidOf, startChild, stopChild } from '../machine/child.ts';
import { findFreePort } from '../machine/free-port.ts';
import { edgeConfig, type IopPlaces, nodeConfig } from './iop-config.ts';
import { createApiKey } from './iop-key.ts';
import { iopPrograms } from './iop-programs.ts';
import type { Target, TargetContext } from './target.ts';

export interface IopOptions {
  tls: boolean;
  profileDir: string | undefined;
}

/** Edge and Node from source, as two real processes on the target's core. */
export async function startIop(context: TargetContext, options: IopOptions): Promise<Target> {
  const places = await preparePlaces(context, options.tls);
  const edge = startPart(context, 'edge', options);
  const node = startPart(context, 'node', options);
  const stop = async (): Promise<void> => {
    await Promise.all([stopChild(edge, 15_000), stopChild(node, 15_000)]);
  };
  try {
    const key = await createApiKey(places.edgeDir);
    const parts = [
      { name: 'edge', pid: pidOf(edge, 'iop-edge') },
      { name: 'node', pid: pidOf(node, 'iop-node') },
    ];
    const headers = { authorization: `Bearer ${key}` };
    const place = {
      port: places.httpPort,
      path: '/v1/chat/completions',
      headers,
      pids: parts.map((part) => part.pid),
    };
    return { name: options.tls ? 'iop-tls' : 'iop', place, parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function preparePlaces(context: TargetContext, tls: boolean): Promise<IopPlaces> {
  const { scratchDir, mockPort } = context;
  const places = {
    edgeDir: join(scratchDir, 'edge'),
    nodeDir: join(scratchDir, 'node'),
    httpPort: await findFreePort(),
    wirePort: await findFreePort(),
    mockPort,
    tls,
  };
  for (const dir of [places.edgeDir, places.nodeDir]) mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(scratchDir, 'edge.yaml'), edgeConfig(places));
  const init = [iopPrograms.edge, 'init', '--state-dir', places.edgeDir, '--name', 'bench', '--json'];
  const answer = execFileSync(process.execPath, init, { encoding: 'utf8', timeout: 20_000 });
  const { pin } = JSON.parse(answer) as { pin: string };
  writeFileSync(join(scratchDir, 'node.yaml'), nodeConfig({ ...places, pin }));
  return { ...places, pin };
}

function startPart(context: TargetContext, part: 'edge' | 'node', { profileDir }: IopOptions) {
  const profiling =
    profileDir === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${part}.cpuprofile`];
  return startChild({
    name: `iop-${part}`,
    cpu: context.cpu,
    command: process.execPath,
    args: [...profiling, iopPrograms[part], 'serve', '--config', join(context.scratchDir, `${part}.yaml`)],
    logFd: context.openLog(part),
  });
}
