import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpParser } from './http-parser.ts';

const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\nA\r\n 0123456789'.replace(
    ' 0',
    '0',
  );
const messages = [
  { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', body: 'hello' },
  { raw: `${chunked}\r\n0\r\nX-Trailer: y\r\n\r\n`, body: 'hello0123456789' },
  { raw: 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', body: '' },
];

test('messages are framed the same wherever the bytes are cut', () => {
  const raw = messages.map((message) => message.raw).join('');
  for (let size = 1; size <= raw.length; size++) {
    assert.deepEqual(
      parsePieces(raw, size),
      messages.map((message) => message.body),
      `pieces of ${size}`,
    );
  }
});

test('a request without a body ends with its head', () => {
  let ended = 0;
  const parser = new HttpParser('request', { head: () => {}, body: () => {}, end: () => ended++ });
  parser.push(Buffer.from('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'));
  assert.equal(ended, 1);
});

test('a bad chunk size and a response without a length are refused', () => {
  assert.throws(
    () => parsePieces('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 100),
    /chunk size/,
  );
  assert.throws(() => parsePieces('HTTP/1.1 200 OK\r\nserver: x\r\n\r\n', 100), /without a length/);
});

function parsePieces(raw: string, size: number): string[] {
  const bodies: string[] = [];
  let body = '';
  const parser = new HttpParser('response', {
    head: () => {
      body = '';
    },
    body: (bytes) => {
      body += bytes.toString('latin1');
    },
    end: () => bodies.push(body),
  });
  for (let at = 0; at < raw.length; at += size) parser.push(Buffer.from(raw.slice(at, at + size), 'latin1'));
  return bodies;
}
