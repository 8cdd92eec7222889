import { toIopError } from '@iop/domain';
import type { Capabilities, Dialect, RetryBoundary, SessionKind, UpstreamLoad } from '@iop/runtime';
import type { AdapterInstance } from './adapter-registry.ts';

/** What one configured adapter can do now, as the Edge wants to know it. */
export interface AdapterReport extends Capabilities {
  name: string;
  kind: string;
  retry: RetryBoundary;
  sessions: SessionKind;
  dialects: readonly Dialect[];
}

/** How busy the upstream of one adapter is. */
export interface AdapterLoad extends UpstreamLoad {
  adapter: string;
}

/** Only of adapters whose upstream says. */
export function loadsOf(reports: readonly AdapterReport[]): readonly AdapterLoad[] {
  return reports.flatMap(({ name, load }) => (load === undefined ? [] : [{ adapter: name, ...load }]));
}

export async function reportAdapters(
  instances: readonly AdapterInstance[],
  signal: AbortSignal,
): Promise<readonly AdapterReport[]> {
  return Promise.all(instances.map((instance) => reportAdapter(instance, signal)));
}

async function reportAdapter({ adapter }: AdapterInstance, signal: AbortSignal): Promise<AdapterReport> {
  const { name, kind, retry, sessions, dialects } = adapter;
  const capabilities = await adapter.capabilities(signal).catch(
    (reason: unknown): Capabilities => ({
      healthy: false,
      detail: `the adapter cannot say what it can do: ${toIopError(reason).message}`,
      targets: [],
    }),
  );
  return { name, kind, retry, sessions, dialects, ...capabilities };
}
