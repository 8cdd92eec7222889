import { type KeyView, noLimits, type OperatorClient } from '@iop/client';
import { IopError } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';
import { formatAge, formatLength } from '../output/time.ts';
import { changePolicy, limitCells, namesLimit } from './key-policy.ts';

export async function run(context: CommandContext): Promise<void> {
  const [action = 'list', value = ''] = context.args;
  const act = actions[action];
  if (act === undefined) throw usage(`keys: ${action} is not known; use create NAME, set ID or revoke ID`);
  if (act.needs !== undefined && value === '') throw usage(`keys ${action} needs ${act.needs}`);
  await withOperator(context, (client) => act.run(client, value, context));
}

interface Action {
  /** What must follow the action. */
  needs?: string;
  run(client: OperatorClient, value: string, context: CommandContext): Promise<void>;
}

const actions: Readonly<Record<string, Action>> = {
  list: {
    async run(client, _value, { options, stdout }) {
      const keys = await client.listKeys();
      if (options.json === true) return printJson(stdout, { keys });
      stdout.write(formatKeys(keys, Date.now()));
    },
  },
  create: {
    needs: 'a name, for people: iop keys create "laptop of Kim"',
    async run(client, name, { options, stdout, stderr }) {
      const policy = namesLimit(options) ? changePolicy(noLimits, options, Date.now()) : undefined;
      const { key, secret } = await client.createKey(name, policy);
      if (options.json === true) return printJson(stdout, { key, secret });
      stdout.write(`${secret}\n`);
      stderr.write(`This is the only time that the key ${key.id} (${key.name}) is shown.\n`);
    },
  },
  set: {
    needs: 'the id of a key, as `iop keys` lists it',
    async run(client, id, { options, stdout }) {
      const name = textOption(options.name);
      if (!namesLimit(options) && name === undefined) throw usage(nothingToSet);
      const before = (await client.listKeys()).find((key) => key.id === id);
      if (before === undefined) throw unknownKey(id);
      const key = await client.setKey(id, changePolicy(before.policy, options, Date.now()), name);
      if (options.json === true) return printJson(stdout, { key });
      stdout.write(formatKeys([key], Date.now()));
    },
  },
  revoke: {
    needs: 'the id of a key, as `iop keys` lists it',
    async run(client, id, { options, stdout }) {
      const key = await client.revokeKey(id);
      if (options.json === true) return printJson(stdout, { key });
      stdout.write(`The key ${key.id} (${key.name}) is revoked.\n`);
    },
  },
};

export function formatKeys(keys: readonly KeyView[], nowMs: number): string {
  if (keys.length === 0) return 'No API key yet. Create one: iop keys create NAME\n';
  const rows = keys.map((key) => [
    key.id,
    orDash(key.name),
    stateOf(key),
    key.policy.role,
    formatAge(key.createdAtMs, nowMs),
    ...limitCells(key.policy),
    expiryWords(key, nowMs),
    String(key.running),
  ]);
  const limits = ['targets', 'concurrency', 'rate', 'expires'];
  return formatTable(['id', 'name', 'state', 'role', 'created', ...limits, 'running'], rows);
}

function stateOf({ revoked, expired }: KeyView): string {
  if (revoked) return 'revoked';
  return expired ? 'expired' : 'valid';
}

function expiryWords({ policy, expired }: KeyView, nowMs: number): string {
  const { expiresAtMs } = policy;
  if (expiresAtMs === undefined) return 'never';
  return expired ? formatAge(expiresAtMs, nowMs) : `in ${formatLength(expiresAtMs - nowMs)}`;
}

const nothingToSet =
  'keys set needs what to change: --targets, --concurrency, --rate, --burst, --expires, --role or --name';

function unknownKey(id: string): IopError {
  const message = `no key ${id} is known to this Edge; \`iop keys\` lists them`;
  return new IopError({ kind: 'not-found', code: 'key.unknown', message });
}

function usage(message: string): IopError {
  return new IopError({ kind: 'invalid', code: 'usage', message });
}
