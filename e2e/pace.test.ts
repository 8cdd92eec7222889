// F28: nothing on the way (caller – Edge – link – Node – upstream) holds small pieces back. A missing NODELAY
// or a second write shows as a quantum of about 40 ms, so the bounds here are far above a busy machine's noise
// and far below that.
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { chat } from './harness/chat.ts';
import type { Piece } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };

for (const tls of [true, false]) {
  describe(`F28: small pieces over a ${tls ? 'TLS' : 'plaintext'} link`, { timeout: 300_000 }, () => {
    let scene: Scene;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    before(async () => {
      scene = await openScene({ tls });
      at(scene.upstreams, 0).act({ kind: 'json', content: 'warm' });
      for (let i = 0; i < 20; i++) await chat(scene.edge, { agent }).answer;
    });
    after(async () => {
      agent.destroy();
      await scene?.world.close();
    });

    for (const paceMs of [1, 5, 20]) {
      for (const size of [1, 200]) {
        test(`chunks of ${size} bytes every ${paceMs} ms arrive as they are sent`, limit, async () => {
          const upstream = at(scene.upstreams, 0);
          upstream.forget();
          upstream.act({ kind: 'stream', chunks: Array(100).fill('x'.repeat(size)), paceMs });
          const asking = chat(scene.edge, { stream: true, agent });
          await asking.answer;
          const late = lateness(asking.pieces, at(upstream.requests, 0).sentAt);
          assert.equal(late.length, 100);
          const [p50, p75] = [quantile(late, 0.5), quantile(late, 0.75)];
          assert.ok(p50 < 10 && p75 < 30, `p50 ${p50.toFixed(1)} ms, p75 ${p75.toFixed(1)} ms`);
        });
      }
    }

    test('small whole answers come at once, one after the other on one connection', limit, async () => {
      at(scene.upstreams, 0).act({ kind: 'json', content: 'x' });
      const took: number[] = [];
      for (let i = 0; i < 60; i++) {
        const startedAt = performance.now();
        await chat(scene.edge, { agent }).answer;
        took.push(performance.now() - startedAt);
      }
      const [p50, p75] = [quantile(took, 0.5), quantile(took, 0.75)];
      assert.ok(p50 < 20 && p75 < 35, `p50 ${p50.toFixed(1)} ms, p75 ${p75.toFixed(1)} ms`);
    });
  });
}

/** How long after it was sent each chunk arrived, in ms. */
function lateness(pieces: readonly Piece[], sentAt: readonly number[]): number[] {
  const arrivedAt = pieces.flatMap((piece) =>
    piece.text
      .split('\n\n')
      .slice(1)
      .map(() => piece.at),
  );
  return sentAt.map((sent, index) => at(arrivedAt, index) - sent);
}

function quantile(values: readonly number[], share: number): number {
  return at(
    values.toSorted((a, b) => a - b),
    Math.floor(share * (values.length - 1)),
  );
}
