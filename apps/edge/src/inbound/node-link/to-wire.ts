import type { LinkMessage } from '@iop/link';
import {
  type AdapterConfig,
  AdapterConfigSchema,
  CliConfigSchema,
  create,
  ForceStream,
  MockConfigSchema,
  NodeConfigPayloadSchema,
  OllamaConfigSchema,
  RawRequestSchema,
  RunClass,
  RunLimitsSchema,
  type RunRequest,
  TargetConfigSchema,
  VllmConfigSchema,
} from '@iop/wire';
import type {
  AdapterOptions,
  AdapterSettings,
  NodeConfig,
  RunOrder,
  TargetSettings,
} from '../../ports/node-link.ts';

export function toRunRequest(order: RunOrder, part: { body: Uint8Array; windowBytes: number }): LinkMessage {
  // written out instead of created: this is the hot path
  const value: RunRequest = {
    $typeName: 'iop.wire.v1.RunRequest',
    runId: order.runId,
    attempt: order.attempt,
    runClass: order.detached ? RunClass.DETACHED : RunClass.ATTACHED,
    adapter: order.adapter,
    target: order.target,
    dialect: order.dialect,
    stream: order.stream,
    includeUsage: order.includeUsage,
    body: part.body,
    bodySize: order.body.length,
    eventCredit: part.windowBytes,
    deadlineMs: order.deadlineMs,
    sessionId: '',
    door: order.door,
    metadata: {},
    configRevision: order.configRevision,
  };
  if (order.raw !== undefined) value.raw = create(RawRequestSchema, order.raw);
  return { case: 'runRequest', value };
}

export function toConfigPayload(config: NodeConfig): LinkMessage {
  return {
    case: 'nodeConfigPayload',
    value: create(NodeConfigPayloadSchema, {
      revision: config.revision,
      adapters: config.adapters.map(toAdapterConfig),
      limits: create(RunLimitsSchema, {
        stallAfterMs: config.stallAfterMs,
        orphanAfterMs: config.orphanAfterMs,
        detachedOrphanAfterMs: config.detachedOrphanAfterMs,
      }),
    }),
  };
}

function toAdapterConfig({ name, concurrency, targets, options }: AdapterSettings): AdapterConfig {
  return create(AdapterConfigSchema, {
    name,
    concurrency,
    targets: targets.map(toTargetConfig),
    kind: toKind(options),
  });
}

function toTargetConfig(target: TargetSettings) {
  const { name, concurrency, mockScriptJson = '', cliProfileJson = '' } = target;
  const forceStream = toForceStream(target.forceStream);
  return create(TargetConfigSchema, { name, concurrency, mockScriptJson, cliProfileJson, forceStream });
}

function toForceStream(isForced: boolean | undefined): ForceStream {
  if (isForced === undefined) return ForceStream.UNSPECIFIED;
  return isForced ? ForceStream.ALWAYS : ForceStream.NEVER;
}

function toKind(options: AdapterOptions): AdapterConfig['kind'] {
  if (options.kind === 'mock') return { case: 'mock', value: create(MockConfigSchema) };
  if (options.kind === 'cli') return { case: 'cli', value: create(CliConfigSchema) };
  if (options.kind === 'ollama') {
    const { kind, ...values } = options;
    return { case: kind, value: create(OllamaConfigSchema, values) };
  }
  const { baseUrl, connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = options;
  const apiKeyFile = options.apiKeyFile ?? '';
  const times = { connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs };
  return { case: 'vllm', value: create(VllmConfigSchema, { baseUrl, apiKeyFile, ...times }) };
}
