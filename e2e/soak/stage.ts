import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosProxy } from '../harness/chaos-proxy.ts';
import type { AdapterConfig, Edge } from '../harness/edge.ts';
import type { Node } from '../harness/node.ts';
import type { Program } from '../harness/program.ts';
import type { Upstream } from '../harness/upstream.ts';
import { openWorld, type World } from '../harness/world.ts';
import type { Diary } from './diary.ts';
import type { SoakLimits } from './history/history.ts';
import { makeWeather, type Weather } from './upstream-weather.ts';

/** One Edge, its Nodes, and between them what can be broken. */
export interface Stage {
  world: World;
  edge: Edge;
  places: readonly Place[];
  /** Between the Edge and operators that come over TCP. */
  operatorProxy: ChaosProxy;
  /** One line for each time that the program of `say` began. */
  sayFile: string;
  /** Whoever ends a program on purpose says so before, so that others who end are noticed. */
  expectEnd(program: Program): void;
  /** Of the programs that were started since the last call: notices when they end by themselves. */
  watchEnds(): void;
}

export interface Place {
  node: Node;
  proxy: ChaosProxy;
  upstream: Upstream;
  weather: Weather;
}

export const nodeNames = ['n1', 'n2', 'n3'] as const;

/** Short, so that minutes see what days would. */
export const limits: SoakLimits = {
  lostAfterMs: 3_000,
  detachedLostAfterMs: 20_000,
  orphanAfterMs: 2_000,
  stopAfterMs: 3_000,
};

const edgeLimits = {
  heartbeat: '500ms',
  lost_after: `${limits.lostAfterMs}ms`,
  detached_lost_after: `${limits.detachedLostAfterMs}ms`,
  orphan_after: `${limits.orphanAfterMs}ms`,
  stop_after: `${limits.stopAfterMs}ms`,
  redispatch_after: '200ms',
  stall_after: '10s',
  queue_wait: '5s',
  breaker_open: '300ms',
  drain: '1s',
};

export async function openStage(diary: Diary, lifeMs: number): Promise<Stage> {
  const world = openWorld();
  try {
    const workDir = join(world.dir, 'work');
    mkdirSync(workDir);
    const sayFile = join(workDir, 'effects');
    const upstreams: Upstream[] = [];
    for (const _name of nodeNames) upstreams.push(await world.upstream());
    const edge = await world.edge({
      adapters: adaptersFor(upstreams, { workDir, sayFile }),
      models: [
        ...nodeNames.map((name) => ({ name: 'm', adapter: `vllm-${name}`, target: 'm' })),
        { name: 'say', adapter: 'cli', target: 'say' },
      ],
      limits: edgeLimits,
      logLevel: 'info',
      lifeMs,
    });
    const places: Place[] = [];
    for (const [index, name] of nodeNames.entries()) {
      const upstream = upstreams[index] as Upstream;
      const proxy = await world.proxy(edge.wirePort);
      const allow = { adapters: ['mock', 'vllm', 'cli'], programs: ['/bin/sh'], directories: [workDir] };
      const node = await world.node(edge, { name, port: proxy.port, allow, logLevel: 'info', lifeMs });
      places.push({ node, proxy, upstream, weather: makeWeather(name, upstream) });
    }
    const operatorProxy = await world.proxy(edge.wirePort);
    const stage = { world, edge, places, operatorProxy, sayFile, ...endWatch(diary, edge, places) };
    stage.watchEnds();
    return stage;
  } catch (cause) {
    await world.close().catch(() => {});
    throw cause;
  }
}

interface SayPaths {
  workDir: string;
  sayFile: string;
}

function adaptersFor(upstreams: readonly Upstream[], { workDir, sayFile }: SayPaths): AdapterConfig[] {
  const say =
    'IFS= read -r mark; echo "$mark" >> "$0"; while IFS= read -r line; do printf "%s\\n" "$line"; sleep 0.05; done';
  return [
    { name: 'mock', kind: 'mock', nodes: ['*'], targets: [{ name: 'echo' }] },
    ...nodeNames.map((name, index) => ({
      name: `vllm-${name}`,
      kind: 'vllm' as const,
      nodes: [name],
      base_url: upstreams[index]?.baseUrl,
      idle_timeout: '2s',
      first_byte_timeout: '4s',
    })),
    {
      name: 'cli',
      kind: 'cli',
      nodes: ['*'],
      concurrency: 3,
      targets: [{ name: 'say', program: '/bin/sh', args: ['-c', say, sayFile], directory: workDir }],
    },
  ];
}

function endWatch(
  diary: Diary,
  edge: Edge,
  places: readonly Place[],
): Pick<Stage, 'expectEnd' | 'watchEnds'> {
  const seen = new Set<Program>();
  const expected = new Set<Program>();
  return {
    expectEnd: (program) => void expected.add(program),
    watchEnds() {
      for (const program of [edge.program, ...places.map(({ node }) => node.program)]) {
        if (seen.has(program)) continue;
        seen.add(program);
        void program.exited.then((exit) => {
          if (expected.has(program)) return;
          const last = program.lines.slice(-8).join('\n');
          diary.trouble(
            `${program.name} ended by itself: ${JSON.stringify(exit)}; it printed last:\n${last}`,
          );
        });
      }
    },
  };
}
