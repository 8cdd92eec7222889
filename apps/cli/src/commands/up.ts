import type { CommandContext } from '@iop/shell/program';

export async function run(_context: CommandContext): Promise<void> {}
