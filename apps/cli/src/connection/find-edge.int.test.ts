import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type EdgeChoice, findEdge } from './find-edge.ts';

const dir = mkdtempSync(join(tmpdir(), 'iop-find-'));
after(() => rmSync(dir, { recursive: true }));

const pin = `sha256:${'ab'.repeat(32)}`;
const choose = (choice: Partial<EdgeChoice>): EdgeChoice => ({ plaintext: false, ...choice });

test('the socket of a state directory is found, of `iop up` and of a single Edge', () => {
  const up = join(dir, 'up');
  mkdirSync(join(up, 'edge'), { recursive: true });
  writeFileSync(join(up, 'edge', 'operator.sock'), '');
  assert.deepEqual(findEdge(choose({}), { IOP_STATE_DIR: up }), {
    kind: 'unix',
    path: join(up, 'edge', 'operator.sock'),
  });
  const single = join(dir, 'single');
  mkdirSync(single);
  writeFileSync(join(single, 'operator.sock'), '');
  assert.deepEqual(findEdge(choose({}), { IOP_STATE_DIR: single }), {
    kind: 'unix',
    path: join(single, 'operator.sock'),
  });
});

test('without an Edge it is said where one was looked for and what to do', () => {
  assert.throws(() => findEdge(choose({}), { IOP_STATE_DIR: join(dir, 'none') }), {
    kind: 'unavailable',
    message: /looked for .*none\/edge\/operator\.sock.*iop up/,
  });
});

test('an Edge over TCP needs pin and token file, and each wrong thing is named', () => {
  const full = { edge: 'edge.lan:7400', pin, tokenFile: '/none' };
  const address = findEdge(choose(full), {});
  assert.equal(address.kind === 'tcp' && address.host, 'edge.lan');
  assert.equal(address.kind === 'tcp' && address.tls, true);
  const refusals: [Partial<EdgeChoice>, RegExp][] = [
    [{ ...full, edge: 'edge.lan' }, /--edge takes host:port/],
    [{ edge: full.edge, tokenFile: '/x' }, /--edge needs --pin/],
    [{ ...full, pin: 'sha256:12' }, /a pin is sha256: and 64 hex digits/],
    [{ edge: full.edge, pin }, /--edge needs --token-file/],
    [{ ...full, socket: '/x' }, /not both/],
  ];
  for (const [choice, message] of refusals)
    assert.throws(() => findEdge(choose(choice), {}), { kind: 'invalid', message });
});

test('two pins are taken while a key is changed', () => {
  const address = findEdge(choose({ edge: 'e:1', pin: `${pin}\n${pin}`, tokenFile: '/x' }), {});
  assert.equal(address.kind === 'tcp' && address.pins.length, 2);
});
