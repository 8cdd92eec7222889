import process from 'node:process';
import { connectOperator, type OperatorClient } from '@iop/client';
import { createSystemClock } from '@iop/shell';
import { type CommandContext, version } from '@iop/shell/program';
import { textOption } from '../output/options.ts';
import { findEdge } from './find-edge.ts';

/** How to link to the Edge that the command line names. */
export function connectTo({ options }: CommandContext): (signal: AbortSignal) => Promise<OperatorClient> {
  const choice = {
    socket: textOption(options.socket),
    edge: textOption(options.edge),
    pin: textOption(options.pin),
    tokenFile: textOption(options.tokenFile),
    plaintext: options.plaintext === true,
  };
  const address = findEdge(choice, process.env);
  const clock = createSystemClock();
  return (signal) => connectOperator({ address, name: 'iop', build: `iop ${version}`, clock }, signal);
}

/** Links to the Edge that the command line names, and closes the link whatever happens. */
export async function withOperator<T>(
  context: CommandContext,
  use: (client: OperatorClient) => Promise<T>,
): Promise<T> {
  using client = await connectTo(context)(context.signal);
  return await use(client);
}
