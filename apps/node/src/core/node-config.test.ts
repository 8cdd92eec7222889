import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { settle } from '@iop/link/testing';
import type { AdapterConfiguration } from '../ports/adapter-factory.ts';
import { adapterConfiguration, createNodeFixture } from '../testing/node-fixture.ts';
import { defaultLimits } from './configuration.ts';

const completed: RunEnd = { kind: 'completed', finish: 'stop' };
const config = (revision: number, ...adapters: AdapterConfiguration[]) => ({
  revision,
  adapters,
  limits: defaultLimits,
});

describe('Node: configuration', () => {
  it('keeps the instance of an adapter that did not change', () => {
    const { node, created } = createNodeFixture();
    node.onConfig(config(2, adapterConfiguration('mock'), adapterConfiguration('other')));
    assert.deepEqual(
      created.map((adapter) => adapter.name),
      ['mock', 'other'],
    );
  });

  it('G1, G3: a running run keeps its instance, which is closed after its last run', async () => {
    const { node, created, start, adapter } = createNodeFixture();
    const old = start();
    node.onConfig(config(2, adapterConfiguration('mock', { concurrency: 5 })));
    assert.equal(adapter.closed, false);
    start();
    assert.equal(created[1]?.runs.length, 1);
    adapter.runs[0]?.emitText('still here');
    adapter.runs[0]?.end(completed);
    await settle();
    assert.equal(old.channel.ended.kind, 'completed');
    assert.equal(adapter.closed, true);
    assert.equal(created[1]?.closed, false);
  });

  it('closes an adapter at once that is no longer configured and idle', () => {
    const { node, adapter } = createNodeFixture();
    node.onConfig(config(2));
    assert.equal(adapter.closed, true);
  });

  it('N3: refuses with every problem and keeps the last good revision', () => {
    const { node, start, adapter, created } = createNodeFixture();
    const outcome = node.onConfig(
      config(
        2,
        adapterConfiguration('bad'),
        adapterConfiguration('Big Name'),
        adapterConfiguration('twice'),
        adapterConfiguration('twice'),
        adapterConfiguration('v', {
          settings: {
            kind: 'vllm',
            baseUrl: 'http://127.0.0.1/v1',
            apiKeyFile: '',
            connectTimeoutMs: 0,
            firstByteTimeoutMs: 0,
            idleTimeoutMs: 0,
          },
        }),
        adapterConfiguration('t', {
          targets: [
            { name: 'a', concurrency: 0, mockScriptJson: '', cliProfileJson: '' },
            { name: 'a', concurrency: 0, mockScriptJson: '', cliProfileJson: '' },
          ],
        }),
      ),
    );
    assert.deepEqual(outcome, {
      kind: 'refused',
      problems: [
        'adapters.bad: base_url: is bad',
        'adapters.Big Name: name "Big Name" is not a name like vllm-1',
        'adapters.twice: there are two adapters of this name',
        'adapters.v: this Node has no adapter of kind vllm',
        'adapters.t: targets: a stands there twice',
      ],
    });
    assert.equal(node.status().configRevision, 1);
    start();
    assert.equal(adapter.runs.length, 1);
    assert.equal(created.length, 1);
  });

  it('N3: refuses kinds that node.yaml does not allow', () => {
    const allow = { adapters: [], programs: [], directories: [], hosts: [] };
    const { node } = createNodeFixture({ deps: { allow } });
    const outcome = node.onConfig(config(2, adapterConfiguration('m')));
    assert.match(outcome.kind === 'refused' ? (outcome.problems[0] ?? '') : '', /allow\.adapters: none/);
  });

  it('N3: undoes what it had created when one adapter cannot be', () => {
    const { node, created, adapter } = createNodeFixture();
    const outcome = node.onConfig(config(2, adapterConfiguration('new'), adapterConfiguration('explodes')));
    assert.deepEqual(outcome, { kind: 'refused', problems: ['adapters.explodes: cannot be created'] });
    assert.equal(created[1]?.closed, true);
    assert.equal(adapter.closed, false);
  });
});

describe('Node: concurrency', () => {
  it('refuses more runs than its adapter may execute, and has room again after one', async () => {
    const { node, start, created } = createNodeFixture();
    node.onConfig(config(2, adapterConfiguration('mock', { concurrency: 1 })));
    start();
    const end = start().channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'node.busy');
    assert.equal(end.kind === 'failed' && end.failure.retryable, true);
    created[1]?.runs[0]?.end(completed);
    await settle();
    assert.equal(start().channel.ends.length, 0);
  });

  it('bounds each target for itself', () => {
    const { node, start } = createNodeFixture();
    const targets = [{ name: 'small', concurrency: 1, mockScriptJson: '', cliProfileJson: '' }];
    node.onConfig(config(2, adapterConfiguration('mock', { targets })));
    start({ target: 'small' });
    assert.equal(start({ target: 'small' }).channel.ended.kind, 'failed');
    assert.equal(start({ target: 'large' }).channel.ends.length, 0);
  });

  it('counts runs on a retired instance too', () => {
    const { node, start } = createNodeFixture();
    start();
    node.onConfig(config(2, adapterConfiguration('mock', { concurrency: 1 })));
    assert.equal(start().channel.ended.kind, 'failed');
  });
});
