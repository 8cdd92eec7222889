import assert from 'node:assert/strict';
import { attemptLink } from '../../attempt.ts';
import { createTestAcceptor, testDial, until } from '../link-host.ts';
import {
  ack,
  body,
  type ContractSubject,
  never,
  openLinked,
  openWorld,
  type Suite,
  seqsOf,
} from './contract-world.ts';

/** A link between two honest sides: L6, L7, L10. */
export function lifeContract(suite: Suite, subject: ContractSubject): void {
  messageRules(suite, subject);
  endRules(suite, subject);
}

function messageRules(suite: Suite, subject: ContractSubject): void {
  suite('two sides prove themselves and know each other', async (t) => {
    const { host, near, far } = await openLinked(t, subject);
    assert.equal(near.link.peer.name, 'gpu-1');
    assert.equal(far.link.peer.name, 'lab');
    assert.equal(near.link.peer.epoch, 1);
    assert.equal(far.link.peer.epoch, 1);
    assert.equal(host.admitted[0]?.token, 'secret-token');
    await until(
      () => (near.link.roundTripUs ?? 0) > 0 && (far.link.roundTripUs ?? 0) > 0,
      'both know the round trip',
    );
  });

  suite('messages arrive in order, both ways (L6)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    const seqs = Array.from({ length: 2000 }, (_, at) => at + 1);
    for (const seq of seqs) {
      near.link.send(ack(seq));
      far.link.send(ack(seq));
    }
    await until(() => near.messages.length === 2000 && far.messages.length === 2000, 'all arrived');
    assert.deepEqual(seqsOf(near.messages), seqs);
    assert.deepEqual(seqsOf(far.messages), seqs);
  });

  suite('a control frame overtakes data that waits, and onDrain tells when the data has left (L6)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    for (let at = 0; at < 300; at++) far.link.send(body(at));
    assert.ok(far.link.unsentBytes > 300 * 60_000);
    await new Promise((resolve) => setImmediate(resolve));
    far.link.send(ack(1));
    await until(() => near.messages.length === 301, 'all arrived');
    const place = near.messages.findIndex((message) => message.case === 'runAck');
    assert.ok(place < 300, `the control frame came at place ${place} of 300`);
    const offsets = near.messages.flatMap((message) =>
      message.case === 'runBody' ? message.value.offset : [],
    );
    assert.deepEqual(
      offsets,
      [...offsets].sort((a, b) => a - b),
    );
    await until(() => far.drains > 0, 'onDrain was called');
    assert.equal(far.link.unsentBytes, 0);
  });
}

function endRules(suite: Suite, subject: ContractSubject): void {
  suite('Goodbye comes after everything that was sent before it, with its delay', async (t) => {
    const { near, far } = await openLinked(t, subject);
    for (let at = 0; at < 50; at++) near.link.send(body(at));
    near.link.close('restart', 1500);
    near.link.send(ack(9));
    assert.deepEqual(await far.closed, { kind: 'goodbye', reason: 'restart', reconnectAfterMs: 1500 });
    assert.deepEqual(await near.closed, { kind: 'closed-here', reason: 'restart' });
    assert.equal(far.messages.length, 50);
  });

  suite('destroy ends this side at once and the other as lost (L10)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    near.link.destroy('revoked');
    assert.deepEqual(near.outcome, { kind: 'closed-here', reason: 'revoked' });
    near.link.send(ack(1));
    near.link.close('again');
    assert.equal((await far.closed).kind, 'lost');
  });

  suite('a handler that throws ends its link and no other (L10)', async (t) => {
    const { near, far, host } = await openLinked(t, subject);
    host.onMessage = () => {
      throw new Error('a bug');
    };
    far.link.send(ack(1));
    const outcome = await near.closed;
    assert.ok(
      outcome.kind === 'protocol-error' && outcome.reason === 'a bug' && outcome.cause instanceof Error,
    );
    const told = await far.closed;
    assert.ok(told.kind === 'protocol-error' && told.reason === 'internal error', JSON.stringify(told));
  });

  suite('what the server sends right after Welcome is not lost', async (t) => {
    const host = createTestAcceptor({
      onLink: (link) => {
        for (let seq = 1; seq <= 5; seq++) link.send(ack(seq));
        return { onMessage: () => {}, onClosed: () => {} };
      },
    });
    const world = await openWorld(t, subject, host.identity);
    world.onTransport = (transport) => host.acceptor.accept(transport);
    const options = testDial({ dial: world.dial, pins: [host.pin] });
    await attemptLink(options, never);
    await until(() => options.seen[0]?.messages.length === 5, 'all five arrived');
    host.acceptor.close('over', 0);
  });
}
