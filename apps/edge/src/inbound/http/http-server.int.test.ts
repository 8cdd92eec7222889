import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, createHttpClock, hello, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';

async function errorOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { message: string; type: string; param: string | null; code: string };
  };
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
  return error;
}

test('probes answer without a key, and readiness follows the Edge', async () => {
  await using lab = await openHttpLab();
  assert.equal((await lab.get('/healthz', {})).status, 200);
  assert.equal((await lab.get('/readyz', {})).status, 200);
  lab.edge.ready = false;
  const response = await lab.get('/readyz', {});
  assert.equal(response.status, 503);
  assert.match(await response.text(), /the store does not answer/);
});

test('metrics are for this machine, or for a key when a proxy stands between', async () => {
  await using lab = await openHttpLab();
  await lab.get('/v1/models');
  const response = await lab.get('/metrics', {});
  assert.match(await response.text(), /iop_edge_http_requests_total\{route="\/v1\/models",status="200"\} 1/);
  assert.equal((await lab.get('/metrics', { 'x-forwarded-for': '10.0.0.1' })).status, 401);
  assert.equal((await lab.get('/metrics', { 'x-forwarded-for': '10.0.0.1', ...bearer })).status, 200);
});

test('an unknown path is 404, a known one with another method is 405 with Allow', async () => {
  await using lab = await openHttpLab();
  const unknown = await lab.get('/v1/nothing');
  assert.equal(unknown.status, 404);
  assert.equal((await errorOf(unknown)).code, 'unknown_url');
  for (const [method, path, allow] of [
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['PUT', '/v1/chat/completions', 'POST, OPTIONS'],
    ['DELETE', '/v1/models/qwen', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/healthz', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const client = await connectRaw(lab.port);
    client.send(rawRequest({ method, path }));
    const text = await client.until(/method_not_allowed/);
    assert.match(text, /^HTTP\/1\.1 405 /);
    assert.ok(text.includes(`\r\nallow: ${allow}\r\n`), text);
    client.destroy();
  }
});

test('broken and overlong paths are answered in the same form', async () => {
  await using lab = await openHttpLab();
  for (const path of ['/v1/models/%zz', `/v1/models/${'a'.repeat(3000)}`, '//', '/v1/models/..%2f..%2fetc']) {
    const client = await connectRaw(lab.port);
    client.send(rawRequest({ method: 'GET', path, headers: bearer }));
    assert.match(await client.until(/"code":"[a-z_]+"\}\}/), /^HTTP\/1\.1 404 /);
    client.destroy();
  }
});

test('preflights are answered without a key, and only allowed origins are granted', async () => {
  await using lab = await openHttpLab({ corsOrigins: ['https://chat.example'] });
  const preflight = (origin: string) =>
    fetch(`${lab.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
  const granted = await preflight('https://chat.example');
  assert.equal(granted.status, 204);
  assert.equal(granted.headers.get('access-control-allow-origin'), 'https://chat.example');
  assert.match(granted.headers.get('access-control-allow-headers') ?? '', /authorization.*x-stainless-arch/);
  assert.equal(granted.headers.get('access-control-allow-credentials'), null);
  assert.equal(granted.headers.get('content-length'), null);
  const refused = await preflight('https://evil.example');
  assert.equal(refused.status, 204);
  assert.equal(refused.headers.get('access-control-allow-origin'), null);

  const answer = await lab.get('/v1/models', { ...bearer, origin: 'https://chat.example' });
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://chat.example');
  assert.match(answer.headers.get('access-control-expose-headers') ?? '', /x-iop-run/);
});

test('keys come as Bearer, api-key or x-api-key; everything else is 401 with a hint', async () => {
  await using lab = await openHttpLab();
  const key = bearer.authorization.slice('Bearer '.length);
  for (const headers of [
    bearer,
    { authorization: `bearer  ${key}` },
    { 'api-key': key },
    { 'x-api-key': key },
  ]) {
    assert.equal((await lab.get('/v1/models', headers)).status, 200);
  }
  for (const headers of [
    {},
    { authorization: 'Basic eDp5' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer iop_other_key' },
    { authorization: 'Bearer iop_revoked_key' },
    { 'api-key': '' },
  ]) {
    const response = await lab.get('/v1/models', headers);
    assert.equal(response.status, 401, JSON.stringify(headers));
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    const error = await errorOf(response);
    assert.deepEqual([error.type, error.code], ['invalid_request_error', 'invalid_api_key']);
    assert.doesNotMatch(error.message, /other_key|revoked_key/);
  }
});

test('an expired key is refused with 401 in words of its own', async () => {
  await using lab = await openHttpLab();
  lab.edge.keyCheck = { kind: 'expired', keyId: 'aaaaaaaa', expiresAtMs: Date.UTC(2026, 0, 31) };
  const response = await lab.get('/v1/models');
  assert.equal(response.status, 401);
  assert.match((await errorOf(response)).message, /\(aaaaaaaa\) expired on 2026-01-31T00:00:00.000Z/);
});

test('a store that cannot be asked is 503, never 401', async () => {
  await using lab = await openHttpLab();
  lab.edge.keyCheck = { kind: 'unavailable', detail: 'the store is being opened' };
  const response = await lab.get('/v1/models');
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('retry-after'), '2');
});

test('without keys only this machine may call, and no page of a browser that is not allowed', async () => {
  await using lab = await openHttpLab({ auth: 'none', corsOrigins: ['https://chat.example'] });
  assert.equal((await lab.get('/v1/models', {})).status, 200);
  assert.equal((await lab.get('/v1/models', { origin: 'https://chat.example' })).status, 200);
  assert.equal((await lab.get('/v1/models', { origin: 'https://evil.example' })).status, 403);
  const client = await connectRaw(lab.port);
  client.send(rawRequest({ method: 'GET', path: '/v1/models', headers: { host: 'rebound.example' } }));
  assert.match(await client.until(/origin\.not-allowed/), /^HTTP\/1\.1 403/);
  client.destroy();
  await assert.rejects(openHttpLab({ auth: 'none', host: '0.0.0.0' }), { code: 'config.invalid' });
  await assert.rejects(openHttpLab({ auth: 'none', corsOrigins: ['*'] }), { code: 'config.invalid' });
});

test('x-request-id is echoed when it is harmless, else made', async () => {
  await using lab = await openHttpLab();
  const echoed = await lab.get('/healthz', { 'x-request-id': 'job-7:a' });
  assert.equal(echoed.headers.get('x-request-id'), 'job-7:a');
  const made = await lab.get('/healthz', { 'x-request-id': 'a b"<script>' });
  assert.match(made.headers.get('x-request-id') ?? '', /^req_[0-9a-z]+$/);
});

test('a body beyond the limit is refused before it is read, and its caller hears of it', async () => {
  await using lab = await openHttpLab({ bodyLimitBytes: 100_000 });
  const response = await lab.chat({ ...hello, padding: 'x'.repeat(20 * 1024 * 1024) });
  assert.equal(response.status, 413);
  assert.equal(response.headers.get('connection'), 'close');
  assert.equal((await errorOf(response)).code, 'request_too_large');
  assert.equal(lab.edge.runs.length, 0);
});

test('a caller that sends all of a body that is too large before it reads still gets the answer', async () => {
  await using lab = await openHttpLab({ bodyLimitBytes: 100_000 });
  const client = await connectRaw(lab.port);
  client.socket.pause();
  const sizeBytes = 30 * 1024 * 1024;
  client.send(rawRequest({ headers: { ...bearer, 'content-length': `${sizeBytes}` } }));
  for (let sent = 0; sent < sizeBytes; sent += 1024 * 1024) {
    await new Promise((resolve) => client.socket.write(Buffer.alloc(1024 * 1024, 120), resolve));
  }
  client.socket.resume();
  assert.match(await client.ended(), /^HTTP\/1\.1 413 [\s\S]*request_too_large/);
});

test('a body of unknown length is cut off at the limit', async () => {
  await using lab = await openHttpLab({ bodyLimitBytes: 100_000 });
  const client = await connectRaw(lab.port);
  client.send(rawRequest({ headers: { ...bearer, 'transfer-encoding': 'chunked' } }));
  for (let i = 0; i < 20; i++) client.send(`2000\r\n${'x'.repeat(0x2000)}\r\n`);
  assert.match(await client.until(/request_too_large/), /^HTTP\/1\.1 413/);
  client.send('0\r\n\r\n');
  await client.ended();
});

test('a caller without a key is refused before its body is read', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(rawRequest({ headers: { 'content-length': '900000' } }));
  const text = await client.until(/invalid_api_key/);
  assert.match(text, /^HTTP\/1\.1 401/);
  assert.match(text, /connection: close/i);
  client.destroy();
});

test('who asks before sending a body that is too large is told at once', async () => {
  await using lab = await openHttpLab({ bodyLimitBytes: 1000 });
  const client = await connectRaw(lab.port);
  client.send(rawRequest({ headers: { ...bearer, 'content-length': '5000', expect: '100-continue' } }));
  assert.match(await client.until(/request_too_large/), /^HTTP\/1\.1 413/);
  client.destroy();
  lab.edge.script = (run) => run.complete();
  const polite = await connectRaw(lab.port);
  const body = JSON.stringify(hello);
  polite.send(
    rawRequest({ headers: { ...bearer, 'content-length': `${body.length}`, expect: '100-continue' } }),
  );
  await polite.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  polite.send(body);
  await polite.until(/HTTP\/1\.1 200 OK/);
  polite.destroy();
});

test('a head that is too large, or no HTTP at all, is refused in form', async () => {
  await using lab = await openHttpLab();
  const large = await connectRaw(lab.port);
  large.send(rawRequest({ method: 'GET', path: '/healthz', headers: { 'x-padding': 'x'.repeat(40_000) } }));
  assert.match(await large.ended(), /^HTTP\/1\.1 431 [\s\S]*request\.head-too-large/);
  const garbage = await connectRaw(lab.port);
  garbage.send('\x16\x03\x01\x02\x00garbage\r\n\r\n');
  assert.match(await garbage.ended(), /^HTTP\/1\.1 400 [\s\S]*request\.malformed/);
});

test('a request that does not arrive in time is refused, whatever part of it is missing', async () => {
  await using lab = await openHttpLab({ times: { headMs: 200, requestMs: 400 } });
  const half = await connectRaw(lab.port);
  half.send('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n');
  const slow = await connectRaw(lab.port);
  slow.send(rawRequest({ headers: { ...bearer, 'content-length': '1000' } }));
  slow.send('{"model":');
  const silent = await connectRaw(lab.port);
  assert.match(await half.ended(), /^HTTP\/1\.1 408 /);
  await silent.ended();
  assert.match(await slow.ended(), /^HTTP\/1\.1 408 [\s\S]*request\.timeout/);
  assert.equal(lab.edge.runs.length, 0);
});

test('time for the request does not run against the answer', async () => {
  await using lab = await openHttpLab({ times: { headMs: 400, requestMs: 800 } });
  const answer = lab.chat(hello);
  const run = await lab.edge.run(0);
  await new Promise((resolve) => setTimeout(resolve, 1600));
  run.complete();
  assert.equal((await answer).status, 200);
});

test('closing ends idle connections, lets answers finish and then ends theirs', async () => {
  const lab = await openHttpLab({ times: { closeGraceMs: 20_000 } });
  const idle = await connectRaw(lab.port);
  idle.send(rawRequest({ method: 'GET', path: '/healthz' }));
  await idle.until(/"ok"/);
  const busy = await connectRaw(lab.port);
  busy.send(rawRequest({ headers: bearer, body: JSON.stringify({ ...hello, stream: true }) }));
  const run = await lab.edge.run(0);
  run.raw('data: {"a":1}\n\n');
  await busy.until(/"a":1/);
  const closed = lab.close();
  await idle.ended();
  run.raw('data: {"a":2}\n\n');
  run.complete();
  assert.match(await busy.ended(), /"a":2[\s\S]*\[DONE\]/);
  await closed;
});

test('closing cuts what does not end in time', async () => {
  const lab = await openHttpLab({ times: { closeGraceMs: 50 } });
  const client = await connectRaw(lab.port);
  client.send(rawRequest({ headers: bearer, body: JSON.stringify(hello) }));
  const run = await lab.edge.run(0);
  await lab.close();
  assert.equal(await run.cancelled, 'caller');
  await client.ended();
});

test('a port that is taken is an error that names it', async () => {
  await using lab = await openHttpLab();
  await assert.rejects(openHttpLab({ port: lab.port }), {
    code: 'http.listen',
    message: new RegExp(`${lab.port}`),
  });
});

test('HEAD is answered like GET, without a body', async () => {
  await using lab = await openHttpLab();
  const response = await fetch(`${lab.url}/healthz`, { method: 'HEAD' });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '');
});

test('idle connections outlive the idle time of load balancers', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const response = await lab.get('/healthz');
  assert.match(response.headers.get('keep-alive') ?? '', /timeout=7[5-9]/);
});
