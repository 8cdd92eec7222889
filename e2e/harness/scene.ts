import type { ChaosProxy } from './chaos-proxy.ts';
import type { Edge } from './edge.ts';
import type { Node } from './node.ts';
import type { Upstream } from './upstream.ts';
import { openWorld, type World } from './world.ts';

/** The usual cast: one Edge, Nodes, and behind each Node an upstream of its own that serves model `m`. */
export interface Scene {
  world: World;
  edge: Edge;
  nodes: Node[];
  upstreams: Upstream[];
  /** Between each Node and the Edge, where asked for. */
  proxies: ChaosProxy[];
}

export interface SceneInit {
  nodes?: readonly string[];
  limits?: Record<string, string | number>;
  /** More keys of each vllm adapter: time-outs, concurrency. */
  vllm?: Record<string, unknown>;
  proxied?: boolean;
  tls?: boolean;
}

export async function openScene(init: SceneInit = {}): Promise<Scene> {
  const names = init.nodes ?? ['n1'];
  const world = openWorld();
  try {
    const upstreams: Upstream[] = [];
    for (const _name of names) upstreams.push(await world.upstream());
    const edge = await world.edge({
      adapters: [
        { name: 'mock', kind: 'mock', nodes: ['*'], targets: [{ name: 'echo' }] },
        ...names.map((name, index) => ({
          name: `vllm-${name}`,
          kind: 'vllm' as const,
          nodes: [name],
          base_url: upstreams[index]?.baseUrl,
          ...init.vllm,
        })),
      ],
      models: names.map((name) => ({ name: 'm', adapter: `vllm-${name}`, target: 'm' })),
      limits: init.limits ?? {},
      wire: { tls: init.tls ?? true },
    });
    const proxies: ChaosProxy[] = [];
    const nodes: Node[] = [];
    for (const name of names) {
      const proxy = init.proxied === true ? await world.proxy(edge.wirePort) : undefined;
      if (proxy !== undefined) proxies.push(proxy);
      nodes.push(await world.node(edge, { name, ...(proxy && { port: proxy.port }) }));
    }
    return { world, edge, nodes, upstreams, proxies };
  } catch (cause) {
    await world.close().catch(() => {});
    throw cause;
  }
}

/** Element `index`, which the story knows to be there. */
export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no element ${index} of ${list.length}`);
  return item;
}
