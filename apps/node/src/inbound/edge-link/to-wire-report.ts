import {
  type AdapterCapabilities,
  AdapterCapabilitiesSchema,
  create,
  TargetCapabilitiesSchema,
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
      targets: targets.map((target) =>
        create(TargetCapabilitiesSchema, { name: target.name, contextLength: target.contextLength ?? 0 }),
      ),
    }),
  );
}
