// A program of many endings, run as a child by run-program.int.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorKind, IopError } from '@iop/domain';
import { runProgram } from './run-program.ts';
import type { CommandContext, CommandSpec } from './spec.ts';

function command(
  run: (context: CommandContext) => Promise<void>,
  more: Partial<CommandSpec> = {},
): CommandSpec {
  return { summary: '', options: {}, load: async () => ({ run }), ...more };
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

void runProgram({
  name: 'fixture',
  summary: '',
  version: '1.0.0',
  commands: {
    big: command(async ({ stdout }) => void stdout.write('x'.repeat(1_000_000))),
    fail: command(
      ({ args }) =>
        Promise.reject(new IopError({ kind: args[0] as ErrorKind, code: 'x', message: 'it failed' })),
      { args: ['<kind>'], options: { json: { flag: '--json', summary: '' } } },
    ),
    'throw-later': command(async () => {
      setTimeout(() => {
        throw new Error('nobody caught me');
      }, 1);
      await sleep(10_000);
    }),
    reject: command(async () => {
      void Promise.reject(new Error('nobody caught me'));
      await sleep(10_000);
    }),
    wait: command(async ({ signal, stdout }) => {
      const timer = setTimeout(() => {}, 15_000);
      stdout.write('ready\n');
      await stopped(signal);
      clearTimeout(timer);
      stdout.write('stopped\n');
    }),
    hang: command(async ({ signal, stdout }) => {
      stdout.write('ready\n');
      signal.addEventListener('abort', () => stdout.write('stopping\n'));
      await sleep(15_000);
    }),
    'hang-briefly': command(
      async ({ stdout }) => {
        stdout.write('ready\n');
        await sleep(15_000);
      },
      { stopWithinMs: 200 },
    ),
    chatter: command(async ({ signal, stdout }) => {
      while (!signal.aborted) {
        stdout.write('ready\n');
        await sleep(1);
      }
      throw new IopError({ kind: 'cancelled', code: 'x', message: 'stopped' });
    }),
  },
});
