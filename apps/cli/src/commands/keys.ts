import type { KeyView, OperatorClient } from '@iop/client';
import { IopError } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';
import { formatAge } from '../output/time.ts';

export async function run(context: CommandContext): Promise<void> {
  const [action = 'list', value = ''] = context.args;
  const act = actions[action];
  if (act === undefined) throw usage(`keys: ${action} is not known; use create NAME or revoke ID`);
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
      const { key, secret } = await client.createKey(name);
      if (options.json === true) return printJson(stdout, { key, secret });
      stdout.write(`${secret}\n`);
      stderr.write(`This is the only time that the key ${key.id} (${key.name}) is shown.\n`);
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
    key.revoked ? 'revoked' : 'valid',
    formatAge(key.createdAtMs, nowMs),
  ]);
  return formatTable(['id', 'name', 'state', 'created'], rows);
}

function usage(message: string): IopError {
  return new IopError({ kind: 'invalid', code: 'usage', message });
}
