import type { Readable, Writable } from 'node:stream';

/** A program: what `main.ts` hands to `runProgram`. */
export interface ProgramSpec {
  name: string;
  summary: string;
  version: string;
  commands: Readonly<Record<string, CommandSpec>>;
}

export interface CommandSpec {
  summary: string;
  /** Positional arguments in order: `<run>` must be given, `[prompt]` may be. */
  args?: readonly string[];
  /** By the name under which `CommandContext.options` holds the value. */
  options: Readonly<Record<string, OptionSpec>>;
  /** Text under the help: examples. */
  help?: string;
  /** After a signal the process ends itself when `run` has not ended in this time. Default 10 000. */
  stopWithinMs?: number;
  /** It runs until it is stopped, so a signal is a good end: exit code 0. */
  service?: boolean;
  /** Imports the command's file; only what is run is loaded. */
  load(): Promise<LoadedCommand>;
}

export interface LoadedCommand {
  run(context: CommandContext): Promise<void>;
}

export interface OptionSpec {
  /** `--config <file>`, `-n, --node <name>`, or `--json` for a switch. */
  flag: string;
  summary: string;
  default?: string | boolean;
  /** Environment variable that stands in for the flag. */
  env?: string;
  required?: boolean;
  /** May be given several times; the values arrive joined by line feeds. */
  repeat?: boolean;
}

export interface CommandContext {
  args: string[];
  options: Record<string, string | boolean | undefined>;
  /** Fires at SIGINT, SIGTERM, SIGHUP, a closed stdout, or the death of a parent that asked for it. */
  signal: AbortSignal;
  stdout: Writable;
  stderr: Writable;
  stdin: Readable;
}
