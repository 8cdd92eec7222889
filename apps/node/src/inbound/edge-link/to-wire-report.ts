import type { TargetInfo } from '@iop/runtime';
import {
  type AdapterCapabilities,
  AdapterCapabilitiesSchema,
  create,
  FactSource,
  type TargetCapabilities,
  TargetCapabilitiesSchema,
  TargetFactSchema,
} from '@iop/wire';
import type { AdapterReport } from '../../core/adapter-report.ts';

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

function toWireTarget({ name, contextLength = 0, facts = [] }: TargetInfo): TargetCapabilities {
  return create(TargetCapabilitiesSchema, {
    name,
    contextLength,
    facts: facts.map((fact) => create(TargetFactSchema, { ...fact, source: factSources[fact.source] })),
  });
}

const factSources = { declared: FactSource.DECLARED, measured: FactSource.MEASURED } as const;
