import { encodeCliProfile } from '@iop/cli-profile';
import type { EdgeConfig } from './config.ts';
import type { AliasRoute, EdgeSettings, HistorySettings, Limits, ModelSettings } from './core/settings.ts';
import type { HttpConfig } from './inbound/http/http-config.ts';
import type { AdapterOptions, AdapterSettings, TargetSettings } from './ports/node-link.ts';

/** The part of edge.yaml that can change while the Edge runs, without its number. */
export function toSettings(config: EdgeConfig): Omit<EdgeSettings, 'revision'> {
  return {
    adapters: config.adapters.map(toAdapter),
    models: config.models.map(toModel),
    limits: toLimits(config.limits),
    history: toHistory(config.history),
  };
}

/** The part of edge.yaml that takes a restart to change. */
export function fixedPart({ name, state_dir, wire, http, log }: EdgeConfig): string {
  return JSON.stringify({ name, state_dir, wire, http, log });
}

export function toHttpConfig({ http }: EdgeConfig, closeGraceMs: number): HttpConfig {
  const { host, port, auth, tls } = http;
  return {
    host,
    port,
    auth,
    corsOrigins: http.cors_origins,
    bodyLimitBytes: http.body_limit,
    trustedProxies: http.trusted_proxies,
    basePath: http.base_path,
    ...(tls !== undefined && { tls: { certFile: tls.cert, keyFile: tls.key } }),
    times: { closeGraceMs },
  };
}

function toAdapter(adapter: EdgeConfig['adapters'][number]): AdapterSettings {
  const { name, nodes, concurrency, breaker } = adapter;
  return { name, nodes, concurrency, breaker, targets: toTargets(adapter), options: toOptions(adapter) };
}

function toTargets(adapter: EdgeConfig['adapters'][number]): TargetSettings[] {
  if (adapter.kind === 'cli') {
    return adapter.targets.map(({ name, concurrency, ...profile }) => ({
      name,
      concurrency,
      cliProfileJson: encodeCliProfile(profile),
    }));
  }
  if (adapter.kind === 'vllm') {
    return adapter.targets.map(({ force_stream: forceStream, ...target }) =>
      forceStream === undefined ? target : { ...target, forceStream },
    );
  }
  if (adapter.kind !== 'mock') return adapter.targets.map(({ name, concurrency }) => ({ name, concurrency }));
  return adapter.targets.map(({ name, concurrency, script }) =>
    script === undefined
      ? { name, concurrency }
      : { name, concurrency, mockScriptJson: JSON.stringify(script) },
  );
}

function toOptions(adapter: EdgeConfig['adapters'][number]): AdapterOptions {
  if (adapter.kind === 'mock' || adapter.kind === 'cli') return { kind: adapter.kind };
  if (adapter.kind === 'ollama') return toOllama(adapter);
  return {
    kind: 'vllm',
    baseUrl: adapter.base_url,
    connectTimeoutMs: adapter.connect_timeout,
    firstByteTimeoutMs: adapter.first_byte_timeout,
    idleTimeoutMs: adapter.idle_timeout,
    ...(adapter.api_key_file === undefined ? {} : { apiKeyFile: adapter.api_key_file }),
  };
}

function toOllama(
  adapter: Extract<EdgeConfig['adapters'][number], { kind: 'ollama' }>,
): Extract<AdapterOptions, { kind: 'ollama' }> {
  return {
    kind: 'ollama',
    baseUrl: adapter.base_url,
    apiKeyFile: adapter.api_key_file ?? '',
    connectTimeoutMs: adapter.connect_timeout,
    loadTimeoutMs: adapter.load_timeout,
    idleTimeoutMs: adapter.idle_timeout,
    numCtx: adapter.num_ctx,
    keepAlive: String(adapter.keep_alive ?? ''),
    think: adapter.think ?? '',
  };
}

/** `checkReferences` has seen to it that one of the two forms is whole. */
function toModel({
  name,
  adapter,
  target,
  fallback,
  routes,
  concurrency,
}: EdgeConfig['models'][number]): ModelSettings {
  if (fallback !== undefined) {
    return { kind: 'alias', name, tiers: fallback.map((each) => [{ name: each, weight: undefined }]) };
  }
  if (routes !== undefined) return { kind: 'alias', name, tiers: toTiers(routes) };
  return { kind: 'target', name, adapter: adapter ?? '', target: target ?? '', concurrency };
}

function toTiers(routes: NonNullable<EdgeConfig['models'][number]['routes']>): AliasRoute[][] {
  const tiers = [...new Set(routes.map(({ tier }) => tier))].sort((a, b) => a - b);
  return tiers.map((wanted) =>
    routes.filter(({ tier }) => tier === wanted).map(({ name, weight }) => ({ name, weight })),
  );
}

function toLimits(limits: EdgeConfig['limits']): Limits {
  return {
    queue: limits.queue,
    queueWaitMs: limits.queue_wait,
    nodeConcurrency: limits.node_concurrency,
    heartbeatMs: limits.heartbeat,
    lostAfterMs: limits.lost_after,
    detachedLostAfterMs: limits.detached_lost_after,
    detachedQueueWaitMs: limits.detached_queue_wait,
    redispatchAfterMs: limits.redispatch_after,
    orphanAfterMs: limits.orphan_after,
    stallAfterMs: limits.stall_after,
    runDeadlineMs: limits.run_deadline,
    stopAfterMs: limits.stop_after,
    attempts: limits.attempts,
    breakerFailures: limits.breaker_failures,
    breakerOpenMs: limits.breaker_open,
  };
}

export function toHistory(history: EdgeConfig['history']): HistorySettings {
  return {
    content: history.content,
    store: history.store,
    retentionMs: history.retention,
    contentBytes: history.content_limit,
    storedRetentionMs: history.stored_retention,
  };
}
