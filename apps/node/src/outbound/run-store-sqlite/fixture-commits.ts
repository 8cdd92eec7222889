/** Keeps one end, or forgets one: what of it the kernel is asked to bring to the disk is seen by strace. */
import { createTestClock } from '@iop/link/testing';
import { keptEnd } from '../../ports/end-store.contract.ts';
import { silentLog } from '../../testing/node-fixture.ts';
import { openSqliteRunStore } from './run-store-sqlite.ts';

const [file = '', what] = process.argv.slice(2);
const store = openSqliteRunStore({ file, clock: createTestClock(), log: silentLog });
process.chdir('/');
for (let n = 0; n < 5; n++) {
  if (what === 'keep') store.keep([keptEnd(`r${n}`)]);
  else store.forget({ runId: `r${n}`, attempt: 1 });
  store.flush();
}
process.chdir('/');
process.kill(process.pid, 'SIGKILL');
