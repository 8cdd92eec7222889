import type { z } from 'zod';
import { type ConfigDeclaration, envNameOf } from './declaration.ts';
import { type Choice, type ConfigKey, listKeys } from './keys.ts';
import { formatValue } from './pieces.ts';
import { defaultOf, literalsOf, metaOf, shapeOf, unwrap } from './shape.ts';

/** One row of the reference: everything there is to say about a key. */
export interface ConfigRow {
  /** `adapters[].base_url` */
  path: string;
  type: string;
  required: boolean;
  /** In the words of the file; undefined: none. */
  default: string | undefined;
  /** Undefined: only the file can set it. */
  env: string | undefined;
  /** Only with this choice: `kind: vllm`. */
  when: string | undefined;
  summary: string;
}

export function describeConfig(declaration: ConfigDeclaration): ConfigRow[] {
  const rows = new Map<string, ConfigRow>();
  const counts = new Map<string, number>();
  for (const key of listKeys(declaration.schema)) {
    const row = toRow(declaration, key);
    // What says the same in several options is one row, and in all of them needs no condition.
    const same = JSON.stringify({ ...row, when: undefined });
    const before = rows.get(same);
    const count = (counts.get(same) ?? 0) + 1;
    counts.set(same, count);
    rows.set(
      same,
      before === undefined ? row : { ...row, when: joinWhen(before, row, count === key.options) },
    );
  }
  return [...rows.values()];
}

function joinWhen(before: ConfigRow, row: ConfigRow, inAll: boolean): string | undefined {
  return inAll || before.when === undefined ? undefined : `${before.when} or ${row.when}`;
}

/** The reference as a Markdown page. */
export function renderConfigDocs(declaration: ConfigDeclaration): string {
  const rows = describeConfig(declaration).map(toLine);
  return `# Configuration of ${declaration.program}

Generated from the declaration in the source; \`npm run gen\` refreshes it. A key can also be set by its
environment variable or by \`--set key=value\`; a flag beats the environment, which beats the file.
Unknown keys are errors. \`${declaration.program} serve --config FILE --check\` validates and exits.

| key | type | default | environment | what it is |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function toLine(row: ConfigRow): string {
  const standard = row.required ? '**required**' : code(row.default);
  const summary = [row.when === undefined ? '' : `Only with \`${row.when}\`.`, row.summary].filter(
    (text) => text !== '',
  );
  return `| \`${row.path}\` | ${row.type} | ${standard} | ${code(row.env)} | ${summary.join(' ')} |`.replace(
    / {2,}/g,
    ' ',
  );
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text === '' ? '""' : text}\``;
}

function toRow(declaration: ConfigDeclaration, key: ConfigKey): ConfigRow {
  const settable = !key.path.includes('[]') && !key.path.includes('<name>');
  const value = defaultOf(key.schema);
  return {
    path: key.path.join('.').replaceAll('.[]', '[]'),
    type: key.choices === undefined ? typeOf(key.schema) : listWords(key.choices.map(({ value }) => value)),
    required: key.required,
    default: value === undefined ? undefined : formatValue(value, metaOf(key.schema, 'unit')),
    env: settable ? envNameOf(declaration, key.path) : undefined,
    when: key.when,
    summary: key.choices === undefined ? (metaOf(key.schema, 'description') ?? '') : choiceWords(key.choices),
  };
}

/** `vllm`: any server of the OpenAI dialect. */
function choiceWords(choices: readonly Choice[]): string {
  const known = choices
    .filter((choice) => choice.summary !== '')
    .map(({ value, summary }) => `\`${value}\`: ${summary}`);
  return known.length === 0 ? 'Which of these it is; decides what other keys there are.' : known.join(' ');
}

function typeOf(schema: z.core.$ZodType): string {
  const unit = metaOf(schema, 'unit');
  if (unit !== undefined) return unit;
  const literals = literalsOf(schema);
  if (literals.length > 0) return listWords(literals);
  const shape = shapeOf(schema);
  if (shape.kind === 'list') return `list of ${typeOf(shape.item)}`;
  if (shape.kind === 'map') return `names to ${typeOf(shape.value)}`;
  return leafType(unwrap(schema));
}

function listWords(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function leafType(schema: z.core.$ZodType): string {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  if (def.type === 'string') return 'text';
  if (def.type === 'number')
    return 'format' in schema._zod.bag || 'format' in def ? 'whole number' : 'number';
  return def.type === 'boolean' ? '`true`, `false`' : def.type;
}
