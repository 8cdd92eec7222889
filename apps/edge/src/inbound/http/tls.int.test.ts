import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createTestCertificate } from '@iop/link/testing';
import { bearer, type HttpLab, hello, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw } from '../../testing/raw-client.ts';
import { withoutIds } from '../../testing/sse-text.ts';
import { createTempDir } from '../../testing/temp-dir.ts';

interface TlsLab extends AsyncDisposable {
  lab: HttpLab;
  certFile: string;
  keyFile: string;
  /** Fingerprint of the certificate that a new connection gets. */
  shown(): Promise<string>;
  untilShown(cert: string): Promise<void>;
}

async function openTlsLab(): Promise<TlsLab> {
  const dir = await createTempDir();
  const { cert, key } = createTestCertificate();
  const files = { certFile: join(dir.path, 'cert.pem'), keyFile: join(dir.path, 'key.pem') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  const lab = await openHttpLab({ tls: files, times: { certificateMs: 20 } });
  async function shown(): Promise<string> {
    const socket = await dial(lab.port);
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256 ?? '';
  }
  return {
    ...files,
    lab,
    shown,
    async untilShown(cert) {
      const deadline = performance.now() + 20_000;
      while ((await shown()) !== printOf(cert)) {
        assert.ok(performance.now() < deadline, 'the new certificate is not shown');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async [Symbol.asyncDispose]() {
      await lab.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function dial(port: number, options: object = {}): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

function printOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

async function chat({ port }: HttpLab, body: object): Promise<IncomingMessage> {
  const options = { port, rejectUnauthorized: false, agent: false, headers: bearer };
  const req = request({ ...options, method: 'POST', path: '/v1/chat/completions' });
  req.end(JSON.stringify(body));
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  return response.setEncoding('utf8');
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response) text += part;
  return text;
}

test('answers and streams go over TLS 1.2 and later', async () => {
  await using world = await openTlsLab();
  world.lab.edge.script = (run) => {
    run.chunk({ choices: [] });
    run.chunk({ choices: [1] });
    run.complete();
  };
  const text = await textOf(await chat(world.lab, { ...hello, stream: true }));
  assert.equal(withoutIds(text), 'data: {"choices":[]}\n\ndata: {"choices":[1]}\n\ndata: [DONE]\n\n');
  (await dial(world.lab.port, { maxVersion: 'TLSv1.2', ciphers: 'DEFAULT' })).destroy();
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  await assert.rejects(dial(world.lab.port, old));
});

test('an answer that breaks over TLS does not look whole either', async () => {
  await using world = await openTlsLab();
  const answer = chat(world.lab, hello);
  const run = await world.lab.edge.run(0);
  for (let i = 0; i < 160; i++) run.raw('y'.repeat(64 * 1024));
  const response = await answer;
  run.fail();
  await assert.rejects(textOf(response));
});

test('a new certificate is for new connections; a running stream goes on', async () => {
  await using world = await openTlsLab();
  const { lab, certFile, keyFile } = world;
  const before = await world.shown();
  const answer = chat(lab, { ...hello, stream: true });
  const run = await lab.edge.run(0);
  run.chunk({ choices: [] });
  const response = await answer;
  const next = createTestCertificate();
  writeFileSync(certFile, next.cert);
  writeFileSync(keyFile, next.key);
  await world.untilShown(next.cert);
  assert.notEqual(before, printOf(next.cert));
  run.chunk({ choices: [2] });
  run.complete();
  assert.match(await textOf(response), /\[2\].*\[DONE\]/s);
});

test('a pair that does not fit keeps the old certificate, and a later one that fits is taken', async () => {
  await using world = await openTlsLab();
  const { certFile, keyFile } = world;
  const before = await world.shown();
  const next = createTestCertificate();
  writeFileSync(certFile, next.cert);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await world.shown(), before);
  writeFileSync(keyFile, 'broken');
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await world.shown(), before);
  writeFileSync(keyFile, next.key);
  await world.untilShown(next.cert);
});

test('who speaks no TLS, or breaks it off, costs nobody else', async () => {
  await using world = await openTlsLab();
  const { lab } = world;
  for (const words of ['GET / HTTP/1.1\r\nhost: x\r\n\r\n', '\x16\x03\x01\x00\x05hello', 'x']) {
    const client = await connectRaw(lab.port);
    client.send(words);
    client.socket.end();
    assert.doesNotMatch(await client.ended(), /HTTP/);
  }
  lab.edge.script = (run) => run.complete();
  assert.equal((await chat(lab, hello)).statusCode, 200);
});

test('files that are no pair are refused at the start, by name', async () => {
  await using dir = await createTempDir();
  const certFile = join(dir.path, 'cert.pem');
  const keyFile = join(dir.path, 'key.pem');
  const open = () => openHttpLab({ tls: { certFile, keyFile } });
  await assert.rejects(open, /http\.tls\.cert: cannot read .*cert\.pem/);
  writeFileSync(certFile, createTestCertificate().cert);
  writeFileSync(keyFile, createTestCertificate().key);
  await assert.rejects(open, /cert\.pem and .*key\.pem are no certificate and its key/);
});
