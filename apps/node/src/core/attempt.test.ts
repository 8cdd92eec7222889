import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createNodeFixture, silentLog } from '../testing/node-fixture.ts';

it('what an adapter itself says of a run is passed on and logged; what its program says only passed on', () => {
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => warnings.push(fields) };
  const { start, adapter } = createNodeFixture({ deps: { log } });
  const { channel, runId } = start();
  const say = (stream: 'system' | 'stderr', text: string) =>
    adapter.runs[0]?.emit({ kind: 'log', stream, bytes: new TextEncoder().encode(text) });
  say('stderr', 'of a program');
  say('system', 'the prompt was cut\n');
  assert.deepEqual(warnings, [{ run: runId, adapter: 'mock', target: 'echo', said: 'the prompt was cut' }]);
  assert.equal(channel.events.length, 2);
});
