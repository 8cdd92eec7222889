import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createCors } from './cors.ts';

function from(origin?: string): IncomingMessage {
  return { headers: origin === undefined ? {} : { origin } } as IncomingMessage;
}

test('a caller that is no page gets no header and may call', () => {
  const cors = createCors(['https://a.example']);
  assert.deepEqual(cors.headers(from()), []);
  assert.equal(cors.allows(from()), true);
});

test('an origin is granted by name, never by reflection', () => {
  const cors = createCors(['https://a.example']);
  assert.deepEqual(cors.headers(from('https://a.example')).slice(0, 2), [
    'access-control-allow-origin',
    'https://a.example',
  ]);
  assert.deepEqual(cors.headers(from('https://a.example.evil.example')), ['vary', 'origin']);
  assert.equal(cors.allows(from('null')), false);
  assert.deepEqual(cors.preflight(from('https://b.example')), []);
});

test('all origins are granted as a star, without credentials', () => {
  const cors = createCors(['*']);
  assert.deepEqual(cors.headers(from('https://b.example')).slice(0, 2), ['access-control-allow-origin', '*']);
  assert.ok(!cors.preflight(from('https://b.example')).includes('access-control-allow-credentials'));
});

test('without a list nobody is granted anything', () => {
  const cors = createCors([]);
  assert.deepEqual(cors.headers(from('https://a.example')), []);
  assert.deepEqual(cors.preflight(from('https://a.example')), []);
});
