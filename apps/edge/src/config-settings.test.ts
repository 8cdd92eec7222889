import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { edgeConfig } from './config.ts';
import { toSettings } from './config-settings.ts';

function targetsOf(targets: readonly unknown[]) {
  const adapters = [{ name: 'v', kind: 'vllm', base_url: 'http://127.0.0.1:8000/v1', targets }];
  return toSettings(edgeConfig.schema.parse({ name: 'lab', state_dir: '/x', adapters })).adapters[0]?.targets;
}

describe('edge.yaml as settings', () => {
  it('says of a target whether a stream is forced, or nothing', () => {
    const targets = [{ name: 'a', force_stream: true }, { name: 'b', force_stream: false }, { name: 'c' }];
    assert.deepEqual(targetsOf(targets), [
      { name: 'a', concurrency: 0, forceStream: true },
      { name: 'b', concurrency: 0, forceStream: false },
      { name: 'c', concurrency: 0 },
    ]);
    assert.throws(() => targetsOf([{ name: 'a', force_stream: 'always' }]));
  });
});
