export { formatError } from './format-error.ts';
export { runProgram } from './run-program.ts';
export type { CommandContext, CommandSpec, LoadedCommand, OptionSpec, ProgramSpec } from './spec.ts';
export { stopOnStdinEnd } from './stop-source.ts';
export { exitCodes, type StopCause, toExit } from './to-exit.ts';
export { version } from './version.ts';
