import type { TargetInfo } from '@iop/runtime';
import {
  type AdapterCapabilities,
  AdapterCapabilitiesSchema,
  AdapterLoadSchema,
  create,
  FactSource,
  type LoadChanged,
  LoadChangedSchema,
  type TargetCapabilities,
  TargetCapabilitiesSchema,
  TargetFactSchema,
} from '@iop/wire';
import type { AdapterLoad, AdapterReport } from '../../core/adapter-report.ts';

export function toWireReports(reports: readonly AdapterReport[]): AdapterCapabilities[] {
  return reports.map(({ name, kind, healthy, detail, targets, retry, sessions, dialects }) =>
    create(AdapterCapabilitiesSchema, {
      name,
      kind,
      healthy,
      detail,
      retry,
      sessions,
      dialects: [...dialects],
      targets: targets.map(toWireTarget),
    }),
  );
}

export function toWireLoads(loads: readonly AdapterLoad[]): LoadChanged {
  return create(LoadChangedSchema, { adapters: loads.map((load) => create(AdapterLoadSchema, load)) });
}

function toWireTarget({ name, contextLength = 0, facts = [] }: TargetInfo): TargetCapabilities {
  return create(TargetCapabilitiesSchema, {
    name,
    contextLength,
    facts: facts.map((fact) => create(TargetFactSchema, { ...fact, source: factSources[fact.source] })),
  });
}

const factSources = { declared: FactSource.DECLARED, measured: FactSource.MEASURED } as const;
