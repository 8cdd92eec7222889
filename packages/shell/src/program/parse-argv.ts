import { IopError } from '@iop/domain';
import { Command, CommanderError, Option } from 'commander';
import type { CommandSpec, OptionSpec, ProgramSpec } from './spec.ts';

/** What a command line asks for. */
export type Parsed =
  | {
      kind: 'run';
      command: CommandSpec;
      args: string[];
      options: Record<string, string | boolean | undefined>;
    }
  /** Help or version: `text` was asked for and is all there is to do. */
  | { kind: 'told'; text: string }
  | { kind: 'usage'; error: IopError };

/** Reads a command line; prints nothing. */
export function parseArgv(spec: ProgramSpec, argv: readonly string[]): Parsed {
  let parsed: Parsed | undefined;
  let out = '';
  let err = '';
  const root = new Command(spec.name)
    .description(spec.summary)
    .version(`${spec.name} ${spec.version}`, '-V, --version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    });
  for (const [name, command] of Object.entries(spec.commands)) {
    addCommand(root, name, command, (args, options) => {
      parsed = { kind: 'run', command, args, options };
    });
  }
  try {
    root.parse(argv, { from: 'user' });
  } catch (reason) {
    if (!(reason instanceof CommanderError)) throw reason;
    if (reason.exitCode === 0) return { kind: 'told', text: out };
    return { kind: 'usage', error: toUsageError(spec, reason.message, err) };
  }
  return parsed ?? { kind: 'usage', error: toUsageError(spec, 'no command given', root.helpInformation()) };
}

type OnRun = (args: string[], options: Record<string, string | boolean | undefined>) => void;

function addCommand(root: Command, name: string, spec: CommandSpec, onRun: OnRun): void {
  const command = root.command(name).description(spec.summary);
  for (const arg of spec.args ?? []) command.argument(arg);
  const names = new Map<string, string>();
  for (const [key, option] of Object.entries(spec.options)) {
    const built = buildOption(option);
    names.set(key, built.attributeName());
    command.addOption(built);
  }
  if (spec.help !== undefined) command.addHelpText('after', `\n${spec.help.trimEnd()}`);
  command.action(() => {
    const values = command.opts<Record<string, string | boolean | undefined>>();
    const options: Record<string, string | boolean | undefined> = {};
    for (const [key, attribute] of names) options[key] = values[attribute];
    onRun(command.args, options);
  });
}

function buildOption(spec: OptionSpec): Option {
  const option = new Option(spec.flag, spec.summary);
  if (spec.default !== undefined) option.default(spec.default);
  if (spec.env !== undefined) option.env(spec.env);
  if (spec.required === true) option.makeOptionMandatory();
  if (spec.repeat === true) {
    option.argParser((value: string, before: string | undefined) =>
      before === undefined ? value : `${before}\n${value}`,
    );
  }
  return option;
}

function toUsageError(spec: ProgramSpec, message: string, printed: string): IopError {
  const said = (printed.trim() === '' ? message : printed.trim()).replace(/^error: /, '');
  return new IopError({ kind: 'invalid', code: 'usage', message: `${said}\nSee \`${spec.name} --help\`.` });
}
