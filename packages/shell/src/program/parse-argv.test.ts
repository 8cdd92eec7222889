import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgv } from './parse-argv.ts';
import type { ProgramSpec } from './spec.ts';

const load = () => Promise.resolve({ run: () => Promise.resolve() });
const spec: ProgramSpec = {
  name: 'iop',
  summary: 'Operates IOP.',
  version: '1.2.3',
  commands: {
    run: {
      summary: 'Runs a prompt.',
      args: ['<prompt>', '[more]'],
      options: {
        adapter: { flag: '--adapter <name>', summary: 'adapter', required: true },
        node: { flag: '-n, --node <name>', summary: 'node' },
        json: { flag: '--json', summary: 'JSON' },
        set: { flag: '--set <key=value>', summary: 'set', repeat: true },
        limit: { flag: '--limit <n>', summary: 'limit', default: '50' },
      },
      help: 'Examples:\n  iop run x',
      load,
    },
    nodes: { summary: 'Lists Nodes.', options: {}, load },
  },
};

function usage(argv: string[]): string {
  const parsed = parseArgv(spec, argv);
  assert.equal(parsed.kind, 'usage');
  return parsed.kind === 'usage' ? parsed.error.message : '';
}

test('arguments and options arrive under their names', () => {
  const parsed = parseArgv(spec, [
    'run',
    '--adapter',
    'mock',
    '--json',
    '--set',
    'a=1',
    'hello',
    '--set',
    'b=2',
  ]);
  assert.ok(parsed.kind === 'run');
  assert.deepEqual(parsed.args, ['hello']);
  assert.deepEqual(parsed.options, {
    adapter: 'mock',
    node: undefined,
    json: true,
    set: 'a=1\nb=2',
    limit: '50',
  });
});

test('a lone dash and text after -- are arguments', () => {
  const parsed = parseArgv(spec, ['run', '--adapter', 'm', '-', '--', '--weird']);
  assert.deepEqual(parsed.kind === 'run' && parsed.args, ['-', '--weird']);
});

test('help and version are told, not run', () => {
  assert.deepEqual(parseArgv(spec, ['--version']), { kind: 'told', text: 'iop 1.2.3\n' });
  const help = parseArgv(spec, ['run', '--help']);
  assert.ok(help.kind === 'told');
  assert.match(help.text, /--adapter <name>[\s\S]*Examples:\n {2}iop run x/);
});

test('a wrong command line is a usage error that says what is wrong', () => {
  assert.match(usage(['run', 'x']), /required option '--adapter <name>' not specified/);
  assert.match(usage(['nodse']), /unknown command 'nodse'\n\(Did you mean nodes\?\)/);
  assert.match(usage(['nodes', '--jsn']), /unknown option '--jsn'/);
  assert.match(usage(['nodes', 'extra']), /too many arguments/);
  assert.match(usage(['run', '--adapter', 'm']), /missing required argument 'prompt'/);
  assert.match(usage([]), /Usage: iop/);
});
