import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { type FakeEdge, mockConfig, resume, startFakeEdge, wireRequest } from '../testing/fake-edge.ts';
import { createLab, startProcess } from '../testing/node-process.ts';

async function startEdge(test: TestContext): Promise<FakeEdge> {
  const edge = await startFakeEdge({ tls: true });
  test.after(() => edge.close());
  return edge;
}

describe('iop-node', () => {
  it('tells its version without loading what it does not need', async (test) => {
    const program = startProcess(test, '--version');
    assert.equal(await program.exit, 0);
    assert.match(program.output(), /iop-node \d+\.\d+\.\d+/);
  });

  it('links over pinned TLS with its token, runs, and is gone after SIGTERM', async (test) => {
    const edge = await startEdge(test);
    const { configFile, stateDir } = createLab(test, edge);
    const program = startProcess(test, 'serve', '--config', configFile);
    const link = await edge.link(0);
    assert.equal(link.peer.token, 'the-token');
    assert.equal(link.peer.hello.identity, 'node-1');
    assert.deepEqual(link.peer.hello.labels, { room: 'attic' });
    await link.next('runInventory');
    link.send(resume());
    link.send(mockConfig());
    await link.next('edgeNodeEvent');
    link.send(wireRequest('r1'));
    await link.next('runEvents', (batch) => batch.events.at(-1)?.kind.case === 'end');
    program.child.kill('SIGTERM');
    assert.equal((await link.closed).kind, 'goodbye');
    assert.equal(await program.exit, 0, program.output());
    assert.match(program.output(), /linked to edge fake-edge at 127\.0\.0\.1/);
    assert.doesNotMatch(program.output(), /the-token/);
    assert.equal(statSync(stateDir).mode & 0o777, 0o700);
    assert.equal(statSync(join(stateDir, 'identity.key')).mode & 0o777, 0o600);
    const history = new DatabaseSync(join(stateDir, 'history.db'), { readOnly: true });
    const [row] = history.prepare('SELECT run_id, end_kind FROM runs').all();
    assert.deepEqual({ ...row }, { run_id: 'r1', end_kind: 'completed' });
    history.close();
  });

  it('keeps its identity and its epoch over a restart', async (test) => {
    const edge = await startEdge(test);
    const { configFile } = createLab(test, edge);
    const seen: { key: string; epoch: number }[] = [];
    for (const nth of [0, 1]) {
      const program = startProcess(test, 'serve', '--config', configFile);
      const { hello } = (await edge.link(nth)).peer;
      seen.push({ key: Buffer.from(hello.publicKey).toString('hex'), epoch: hello.lastEpoch });
      program.child.kill('SIGTERM');
      await program.exit;
    }
    assert.equal(seen[0]?.key, seen[1]?.key);
    assert.deepEqual(
      seen.map(({ epoch }) => epoch),
      [0, 1],
    );
  });

  it('cancels what does not end by itself when it is stopped, and hands over the end', async (test) => {
    const edge = await startEdge(test);
    const { configFile } = createLab(test, edge);
    const program = startProcess(test, 'serve', '--config', configFile);
    const link = await edge.link(0);
    link.send(resume());
    link.send(mockConfig());
    await link.next('edgeNodeEvent');
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    program.child.kill('SIGTERM');
    await link.next('edgeNodeEvent', ({ event }) => event.case === 'drainChanged' && event.value.draining);
    const batch = await link.next('runEvents', ({ events }) => events.at(-1)?.kind.case === 'end');
    const kind = batch.events.at(-1)?.kind;
    const end = kind?.case === 'end' ? kind.value.end : undefined;
    assert.equal(end?.case === 'cancelled' && end.value.by, 'shutdown');
    assert.equal(await program.exit, 0, program.output());
  });

  it('K4: keeps the end of a detached run that it cancels while there is no link, for its next start', async (test) => {
    const edge = await startEdge(test);
    const { configFile } = createLab(test, edge);
    const first = startProcess(test, 'serve', '--config', configFile);
    const link = await edge.link(0);
    link.send(resume());
    link.send(mockConfig());
    await link.next('edgeNodeEvent');
    link.send(wireRequest('r1', { runClass: 2, prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    const letIn = edge.holdNewLinks();
    link.link.destroy('cut by the test');
    first.child.kill('SIGTERM');
    assert.equal(await first.exit, 0, first.output());
    letIn();
    const second = startProcess(test, 'serve', '--config', configFile);
    const next = await edge.link(1);
    assert.equal((await next.next('runInventory')).entries.length, 1);
    next.send(resume({ runId: 'r1', attempt: 1, afterSeq: 0, eventCredit: 65_536 }));
    const batch = await next.next('runEvents', ({ events }) => events.at(-1)?.kind.case === 'end');
    const kind = batch.events.at(-1)?.kind;
    const end = kind?.case === 'end' ? kind.value.end : undefined;
    assert.equal(end?.case === 'cancelled' && end.value.by, 'shutdown');
    second.child.kill('SIGKILL');
  });

  it('sends no token to an edge that has another key', async (test) => {
    const edge = await startEdge(test);
    const pin = `sha256:${'0'.repeat(64)}`;
    const { configFile } = createLab(test, { port: edge.port, pin });
    const program = startProcess(test, 'serve', '--config', configFile);
    while (!program.output().includes('no link to the edge'))
      await once(program.child.stderr ?? program.child, 'data');
    assert.match(program.output(), /has the key sha256:[0-9a-f]{64}, pinned is sha256:0000/);
    assert.equal(edge.links.length, 0);
    program.child.kill('SIGTERM');
    assert.equal(await program.exit, 0);
  });

  it('is refused a second time on the same state directory', async (test) => {
    const edge = await startEdge(test);
    const { configFile } = createLab(test, edge);
    const first = startProcess(test, 'serve', '--config', configFile);
    await edge.link(0);
    const second = startProcess(test, 'serve', '--config', configFile);
    assert.notEqual(await second.exit, 0);
    assert.match(second.output(), new RegExp(`in use by iop-node, pid ${first.child.pid}`));
    first.child.kill('SIGTERM');
    await first.exit;
  });

  it('checks its configuration, and says what is wrong and where', async (test) => {
    const edge = { port: 1, pin: `sha256:${'0'.repeat(64)}` };
    const good = createLab(test, edge);
    const ok = startProcess(test, 'serve', '--config', good.configFile, '--check');
    assert.equal(await ok.exit, 0);
    assert.match(ok.output(), /node\.yaml: ok/);
    const bad = createLab(test, { ...edge, pin: 'sha256:abc' }, 'allow: { hots: [] }\n');
    const program = startProcess(test, 'serve', '--config', bad.configFile, '--check');
    assert.equal(await program.exit, 78);
    assert.match(program.output(), /node\.yaml:3.*edge\.pins/);
    assert.match(program.output(), /node\.yaml:5.*hots/);
  });

  it('refuses an identity that others may read', async (test) => {
    const edge = await startEdge(test);
    const { configFile, stateDir } = createLab(test, edge);
    const first = startProcess(test, 'serve', '--config', configFile);
    await edge.link(0);
    first.child.kill('SIGTERM');
    await first.exit;
    chmodSync(join(stateDir, 'identity.key'), 0o644);
    const second = startProcess(test, 'serve', '--config', configFile);
    assert.equal(await second.exit, 78);
    assert.match(second.output(), /chmod 600/);
  });
});
