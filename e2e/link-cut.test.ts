// F3: the link is cut at a byte offset of a short streamed answer and comes back within the grace. The caller
// sees an unbroken answer, byte for byte that of an uncut link. A sample here; every offset in
// link-cut.fault.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cutOffsets, measureLink, playCut } from './harness/link-cut.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

describe('F3: a link that is cut in the middle of a streamed answer', { timeout: 300_000 }, () => {
  // Each Node is cut a few times only: its back-off grows with every cut until a minute of health.
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  for (const tls of [false, true]) {
    describe(tls ? 'over TLS' : 'in plaintext', () => {
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
        test(`cut on its way ${direction}, gives the same bytes as one that was not cut`, {
          timeout: 80_000,
        }, async () => {
          const whole = await measureLink(scene, 0);
          const offsets = cutOffsets(whole.bytes[direction], nodes.length);
          await Promise.all(
            offsets.map(async (bytes, index) => {
              const text = await playCut(scene, index, { direction, bytes });
              assert.equal(text, whole.text, `cut after ${bytes} of ${whole.bytes[direction]} bytes`);
            }),
          );
        });
      }

      test('and cut again while it is being resumed, still gives the same bytes', {
        timeout: 80_000,
      }, async () => {
        const whole = await measureLink(scene, 0);
        const proxy = at(scene.proxies, 0);
        const playing = playCut(scene, 0, { direction: 'up', bytes: Math.floor(whole.bytes.up / 2) }, () => {
          // The second cut falls into the handshake or the inventory of the new link.
          void proxy.cutAfter('up', 700);
        });
        assert.equal(await playing, whole.text);
      });
    });
  }
});
