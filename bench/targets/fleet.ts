import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { startDirect } from './direct.ts';
import { startIop } from './iop.ts';
import { logTails } from './log-tails.ts';
import { startNginx } from './nginx.ts';
import { startPassthrough } from './passthrough.ts';
import { startPortkey } from './portkey.ts';
import { awaitReady } from './ready.ts';
import type { StartTarget, Target, TargetName } from './target.ts';

export interface FleetOptions {
  names: readonly TargetName[];
  mockPort: number;
  cpu: number;
  scratchDir: string;
  profileDir: string | undefined;
}

/** All targets, up at once: an idle neighbour costs next to nothing, and none is measured on a colder machine. */
export class Fleet {
  readonly targets: Target[] = [];

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet();
    try {
      for (const name of options.names) await fleet.#add(name, options);
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.targets.map((target) => target.stop()));
  }

  async #add(name: TargetName, options: FleetOptions): Promise<void> {
    const scratchDir = join(options.scratchDir, name);
    mkdirSync(scratchDir, { mode: 0o700 });
    try {
      const target = await starters(options)[name]({
        mockPort: options.mockPort,
        cpu: options.cpu,
        scratchDir,
        openLog: (log) => openSync(join(scratchDir, `${log}.log`), 'a'),
      });
      this.targets.push(target);
      await awaitReady(target);
    } catch (error) {
      throw new Error(`${name} could not be started: ${String(error)}\n${logTails(scratchDir)}`, {
        cause: error,
      });
    }
  }
}

function starters({ profileDir }: FleetOptions): Record<TargetName, StartTarget> {
  return {
    direct: startDirect,
    nginx: startNginx,
    passthrough: startPassthrough,
    portkey: startPortkey,
    iop: (context) => startIop(context, { tls: false, profileDir }),
    'iop-tls': (context) => startIop(context, { tls: true, profileDir: undefined }),
  };
}
