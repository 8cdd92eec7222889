/** The load generator: one process for the whole run, so that it is warm; takes commands by IPC, one at a time. */
import { runClosedLoop } from './closed-loop.ts';
import { runFirstToken } from './first-token.ts';
import { Holder } from './hold.ts';
import type { LoadCommand, LoadReply } from './messages.ts';
import { StalledCallers } from './stalled.ts';
import { runStreams } from './streams.ts';

const holder = new Holder();
const stalled = new StalledCallers();

process.on('message', (command: LoadCommand) => {
  run(command).then(
    (result) => reply({ kind: 'result', result }),
    (error: unknown) => reply({ kind: 'error', message: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
reply({ kind: 'ready' });

function run(command: LoadCommand): Promise<unknown> {
  switch (command.kind) {
    case 'closed-loop':
      return runClosedLoop(command);
    case 'streams':
      return runStreams(command);
    case 'first-token':
      return runFirstToken(command);
    case 'hold':
      return holder.hold(command);
    case 'release':
      return holder.release(command);
    case 'stall':
      return stalled.open(command);
    case 'unstall':
      return stalled.close();
  }
}

function reply(message: LoadReply): void {
  process.send?.(message);
}
