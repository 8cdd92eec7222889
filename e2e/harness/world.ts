import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChaosProxy, startChaosProxy } from './chaos-proxy.ts';
import { createEdge, type Edge, type EdgeConfig } from './edge.ts';
import { createNode, type Node, type NodeConfig } from './node.ts';
import { livingPids } from './program.ts';
import { startUpstream, type Upstream, type UpstreamInit } from './upstream.ts';

/** Everything that a story starts; closing it ends it all and proves that nothing was left. */
export interface World {
  readonly dir: string;
  upstream(init?: UpstreamInit): Promise<Upstream>;
  /** Initialised, started and ready. */
  edge(config?: EdgeConfig): Promise<Edge>;
  /** Started; `ready: false` does not wait until the Edge may dispatch to it. */
  node(edge: Edge, config: NodeConfig & { ready?: boolean }): Promise<Node>;
  proxy(targetPort: number): Promise<ChaosProxy>;
  /** Called at the end, in reverse order. */
  defer(close: () => Promise<void> | void): void;
  close(): Promise<void>;
}

export function openWorld(): World {
  const dir = mkdtempSync(join(tmpdir(), 'iop-e2e-'));
  const closers: (() => Promise<void> | void)[] = [];
  let edges = 0;
  const world: World = {
    dir,
    async upstream(init) {
      const upstream = await startUpstream(init);
      world.defer(() => upstream.close());
      return upstream;
    },
    async edge(config = {}) {
      const edge = await createEdge(join(dir, `edge-${edges++}`), config);
      world.defer(async () => void (await edge.program?.stop()));
      await edge.start();
      return edge;
    },
    async node(edge, { ready = true, ...config }) {
      const node = createNode(join(dir, `node-${config.name}`), edge, config);
      world.defer(async () => void (await node.program?.stop()));
      node.start();
      if (ready) await edge.nodesReady([config.name]).catch((cause) => failWith(cause, node));
      return node;
    },
    async proxy(targetPort) {
      const proxy = await startChaosProxy(targetPort);
      world.defer(() => proxy.close());
      return proxy;
    },
    defer: (close) => void closers.push(close),
    async close() {
      const problems: unknown[] = [];
      for (const close of closers.reverse()) {
        try {
          await close();
        } catch (problem) {
          problems.push(problem);
        }
      }
      rmSync(dir, { recursive: true, force: true });
      if (problems.length > 0) throw new AggregateError(problems, problems.map(String).join('\n'));
      assert.deepEqual(livingPids(), [], 'processes were left behind');
    },
  };
  return world;
}

/** A Node that does not come tells why in its own words. */
function failWith(cause: Error, { program }: Node): never {
  throw new Error(`${cause.message}; ${program.name} printed last:\n${program.lines.slice(-10).join('\n')}`, {
    cause,
  });
}
