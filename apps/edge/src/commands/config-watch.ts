import { unwatchFile, watchFile } from 'node:fs';
import { toIopError } from '@iop/domain';
import type { Log } from '@iop/shell';
import type { EdgeConfig } from '../config.ts';
import { fixedPart, toSettings } from '../config-settings.ts';
import type { Edge } from '../core/edge.ts';
import type { EdgeSettings } from '../core/settings.ts';
import type { SqliteStore } from '../outbound/store-sqlite/store.ts';
import { numberSettings } from './number-settings.ts';

export interface ConfigWatchDeps {
  file: string;
  /** What is in force. */
  config: EdgeConfig;
  /** Reads the file anew; throws what is wrong with it. */
  load(): EdgeConfig;
  store: Pick<SqliteStore, 'revisionOf' | 'changeRetention'>;
  edge: Pick<Edge, 'configure'>;
  log: Log;
  intervalMs?: number;
}

/** Puts a changed edge.yaml in force; one that is wrong changes nothing and is said. Returns how to stop. */
export function watchConfig(deps: ConfigWatchDeps): () => void {
  const { file, log } = deps;
  const fixed = fixedPart(deps.config);
  let reloading: Promise<void> = Promise.resolve();

  async function reload(): Promise<void> {
    try {
      const config = deps.load();
      const settings: EdgeSettings = await numberSettings(toSettings(config), deps.store.revisionOf);
      deps.edge.configure(settings);
      deps.store.changeRetention(settings.history);
      log.info({ file, revision: settings.revision }, 'edge.yaml has changed and is in force');
      if (fixedPart(config) !== fixed) {
        log.warn({ file }, 'name, state_dir, wire, http and log take effect at the next start');
      }
    } catch (reason) {
      const { code, message } = toIopError(reason);
      log.warn(
        { file, code, reason: message },
        'edge.yaml has changed and is refused; the old one stays in force',
      );
    }
  }

  const onStat = () => {
    reloading = reloading.then(reload);
  };
  // polled: editors replace files, and not every file system tells of it
  watchFile(file, { interval: deps.intervalMs ?? 1000, persistent: false }, onStat);
  return () => unwatchFile(file, onStat);
}
