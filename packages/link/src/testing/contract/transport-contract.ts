import assert from 'node:assert/strict';
import type { Transport } from '../../transport.ts';
import { until } from '../link-host.ts';
import { type ContractSubject, openPair, type Suite } from './contract-world.ts';

/** T1–T3 of `Transport`. */
export function transportContract(suite: Suite, subject: ContractSubject): void {
  flowRules(suite, subject);
  closeRules(suite, subject);
}

function flowRules(suite: Suite, subject: ContractSubject): void {
  suite('bytes arrive in order, both ways at once, with backpressure on the way (T1)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    const sums = await Promise.all([flow(dialed, accepted, 16_000_000), flow(accepted, dialed, 16_000_000)]);
    assert.deepEqual(
      sums.map((sum) => sum.inOrder),
      [true, true],
    );
    assert.ok(
      sums.every((sum) => sum.refusals > 0),
      'write never answered false',
    );
  });

  suite('end lets everything leave; both sides are told once (T2)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    let received = 0;
    const told: string[] = [];
    const gone = new Promise<void>((resolve) => {
      const tell = (who: string): void => {
        told.push(who);
        if (told.length === 2) resolve();
      };
      accepted.start({
        onBytes: (bytes) => {
          received += bytes.length;
        },
        onDrain: () => {},
        onClosed: () => tell('accepted'),
      });
      dialed.start({ onBytes: () => {}, onDrain: () => {}, onClosed: () => tell('dialed') });
    });
    dialed.write([new Uint8Array(500_000), new Uint8Array(10)]);
    dialed.end();
    await gone;
    dialed.destroy();
    accepted.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([received, told.length], [500_010, 2]);
  });
}

function closeRules(suite: Suite, subject: ContractSubject): void {
  suite('destroy closes both sides, and writing after it is harmless (T2)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    const closes = [dialed, accepted].map(
      (end) =>
        new Promise((resolve) => end.start({ onBytes: () => {}, onDrain: () => {}, onClosed: resolve })),
    );
    dialed.destroy();
    assert.equal(dialed.write([Uint8Array.of(1)]), false);
    assert.equal(typeof (await Promise.all(closes))[0], 'string');
  });

  suite('pause holds back what arrives (T3)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    let received = 0;
    accepted.start({
      onBytes: (bytes) => {
        received += bytes.length;
      },
      onDrain: () => {},
      onClosed: () => {},
    });
    dialed.start({ onBytes: () => {}, onDrain: () => {}, onClosed: () => {} });
    accepted.pause();
    dialed.write([new Uint8Array(100)]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const whilePaused = received;
    accepted.resume();
    await until(() => received === 100, 'the bytes came after resume');
    assert.ok(whilePaused === 0 || whilePaused === 100, 'at most one call after pause');
  });

  suite('both ends have the same channel binding', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    assert.deepEqual(Buffer.from(dialed.channelBinding), Buffer.from(accepted.channelBinding));
    assert.equal(dialed.channelBinding.length, 32);
    assert.equal(
      dialed.channelBinding.some((byte) => byte !== 0),
      subject.bound,
    );
  });
}
/** Bytes that count up to 250, again and again. */
const pattern = Uint8Array.from({ length: 251 * 1000 }, (_, at) => at % 251);

function isPattern(bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < bytes.length; ) {
    const phase = (offset + at) % 251;
    const size = Math.min(bytes.length - at, pattern.length - phase);
    if (Buffer.compare(bytes.subarray(at, at + size), pattern.subarray(phase, phase + size)) !== 0)
      return false;
    at += size;
  }
  return true;
}

/** Sends `size` bytes of the pattern, waiting for drains; says whether they arrived so. */
function flow(from: Transport, to: Transport, size: number): Promise<{ inOrder: boolean; refusals: number }> {
  return new Promise((resolve) => {
    let sent = 0;
    let received = 0;
    let inOrder = true;
    let refusals = 0;
    const push = (): void => {
      for (let room = true; room && sent < size; ) {
        const chunk = pattern.slice(sent % 251, (sent % 251) + 50_000);
        sent += chunk.length;
        room = from.write([chunk.subarray(0, 20_000), chunk.subarray(20_000)]);
        if (!room) refusals++;
      }
    };
    starters(from).onDrain = push;
    starters(to).onBytes = (bytes) => {
      inOrder &&= isPattern(bytes, received);
      received += bytes.length;
      if (received === size) resolve({ inOrder, refusals });
    };
    push();
  });
}

interface Starter {
  onDrain: () => void;
  onBytes: (bytes: Uint8Array) => void;
}

const started = new WeakMap<Transport, Starter>();

/** A transport can be started once; two flows share it. */
function starters(transport: Transport): Starter {
  const known = started.get(transport);
  if (known !== undefined) return known;
  const starter: Starter = { onDrain: () => {}, onBytes: () => {} };
  started.set(transport, starter);
  transport.start({
    onBytes: (bytes) => starter.onBytes(bytes),
    onDrain: () => starter.onDrain(),
    onClosed: () => {},
  });
  return starter;
}
