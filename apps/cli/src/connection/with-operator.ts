import process from 'node:process';
import { connectOperator, type OperatorClient } from '@iop/client';
import { createSystemClock } from '@iop/shell';
import { type CommandContext, version } from '@iop/shell/program';
import { textOption } from '../output/options.ts';
import { findEdge } from './find-edge.ts';

/** Links to the Edge that the command line names, and closes the link whatever happens. */
export async function withOperator<T>(
  context: CommandContext,
  use: (client: OperatorClient) => Promise<T>,
): Promise<T> {
  const { options } = context;
  const address = findEdge(
    {
      socket: textOption(options.socket),
      edge: textOption(options.edge),
      pin: textOption(options.pin),
      tokenFile: textOption(options.tokenFile),
      plaintext: options.plaintext === true,
    },
    process.env,
  );
  const build = `iop ${version}`;
  using client = await connectOperator(
    { address, name: 'iop', build, clock: createSystemClock() },
    context.signal,
  );
  return await use(client);
}
