import { join } from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../../testing/temp-dir.ts';
import { assertAcked, startWriting } from './acked.fixture.ts';

test('F18: what was acknowledged survives kill -9 in the middle of writing', {
  timeout: 120_000,
}, async () => {
  await using dir = await createTempDir();
  const file = join(dir.path, 'state.db');
  for (let round = 0; round < 3; round++) {
    const writing = startWriting(file);
    await writing.said('ended', 20);
    await writing.kill();
    await assertAcked(file, writing.lines());
  }
});
