import { type KeyView, type UsageView, usageGroups } from '@iop/client';
import { IopError } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { parseMoment } from '../output/durations.ts';
import { textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';

export async function run(context: CommandContext): Promise<void> {
  const { options, stdout } = context;
  const by = parseGroup(textOption(options.by) ?? 'key');
  const sinceMs = parseSince(textOption(options.since), Date.now());
  const filter = { by, ...(sinceMs === undefined ? {} : { sinceMs }) };
  const usage = await withOperator(context, async (client) => {
    const sums = await client.usage(filter);
    return by === 'key' ? nameKeys(sums, await client.listKeys()) : sums;
  });
  if (options.json === true) return printJson(stdout, { by, since: sinceMs, usage });
  stdout.write(formatUsage(usage, by));
}

/** A sum, and of a key what people call it. */
type NamedUsage = UsageView & { name?: string };

/** Runs of operators have no key, and a key that is gone has no name. */
function nameKeys(sums: readonly UsageView[], keys: readonly KeyView[]): NamedUsage[] {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return sums.map((sum) => ({ ...sum, name: names.get(sum.group) ?? '' }));
}

type Group = (typeof usageGroups)[number];

function parseGroup(text: string): Group {
  const group = usageGroups.find((known) => known === text);
  if (group !== undefined) return group;
  const message = `--by takes ${usageGroups.join(', ')}, not ${text}`;
  throw new IopError({ kind: 'invalid', code: 'usage', message });
}

function parseSince(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined || text === 'all') return undefined;
  return Math.max(0, parseMoment(text, '--since', { nowMs, direction: -1 }));
}

export function formatUsage(usage: readonly NamedUsage[], by: Group): string {
  if (usage.length === 0) return 'No run has ended in that time.\n';
  const heads = by === 'key' ? [by, 'name'] : [by];
  const line = (names: string[], sum: UsageView, note: string) => [
    ...names.slice(0, heads.length),
    ...numbersOf(sum),
    note,
  ];
  const rows = usage.map((row) => line([orDash(row.group), orDash(row.name ?? '')], row, noteOf(row)));
  const all = usage.length > 1 ? [line(['all', ''], usage.reduce(add), '')] : [];
  return formatTable(
    [...heads, 'runs', 'failed', 'cancelled', 'prompt', 'completion', ''],
    [...rows, ...all],
  );
}

function numbersOf(row: UsageView): string[] {
  const mark = row.estimated > 0 ? '~' : '';
  const tokens = [`${mark}${row.promptTokens}`, `${mark}${row.completionTokens}`];
  return [String(row.runs), String(row.failed), String(row.cancelled), ...tokens];
}

/** What makes the tokens less than exact. */
function noteOf({ estimated, unmeasured }: UsageView): string {
  const notes: string[] = [];
  if (estimated > 0) notes.push(`${estimated} estimated`);
  if (unmeasured > 0) notes.push(`${unmeasured} without tokens`);
  return notes.join(', ');
}

function add(a: UsageView, b: UsageView): UsageView {
  return {
    group: '',
    runs: a.runs + b.runs,
    failed: a.failed + b.failed,
    cancelled: a.cancelled + b.cancelled,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    estimated: a.estimated + b.estimated,
    unmeasured: a.unmeasured + b.unmeasured,
  };
}
