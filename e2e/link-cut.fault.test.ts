// F3, all of it: the link is cut after every single byte of a short streamed answer, on its way up and down, and
// comes back within the grace. Plaintext: every offset. TLS: every seventh, which meets every part of its records.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Direction } from './harness/chaos-proxy.ts';
import { measureLink, playCut } from './harness/link-cut.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const nodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
/** The back-off of a Node grows with each cut; a new process begins anew. */
const cutsPerProcess = 3;

for (const { tls, step } of [
  { tls: false, step: 1 },
  { tls: true, step: 7 },
]) {
  describe(`F3: a link that is cut at every ${step}. byte, ${tls ? 'TLS' : 'plaintext'}`, {
    timeout: 1_500_000,
  }, () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene({
        nodes,
        proxied: true,
        tls,
        limits: { orphan_after: '20s', lost_after: '30s' },
      });
    });
    after(() => scene?.world.close());

    for (const direction of ['up', 'down'] as const) {
      test(`on its way ${direction} still gives the same bytes`, { timeout: 700_000 }, async (t) => {
        const whole = await measureLink(scene, 0);
        const length = whole.bytes[direction];
        const offsets = Array.from({ length: Math.ceil(length / step) }, (_nothing, index) => index * step);
        t.diagnostic(`${offsets.length} offsets of ${length} bytes`);
        await Promise.all(nodes.map((_name, index) => playAll(index, direction, offsets, whole.text)));
      });
    }

    /** One Node takes offset after offset. */
    async function playAll(index: number, direction: Direction, offsets: number[], whole: string) {
      for (let played = 1; ; played++) {
        const bytes = offsets.shift();
        if (bytes === undefined) return;
        const text = await playCut(scene, index, { direction, bytes }).catch(String);
        if (text !== whole) offsets.length = 0; // the others need not go on
        assert.equal(text, whole, `cut after byte ${bytes} on its way ${direction}`);
        if (played % cutsPerProcess !== 0) continue;
        const node = at(scene.nodes, index);
        await node.program.stop();
        node.start();
      }
    }
  });
}
