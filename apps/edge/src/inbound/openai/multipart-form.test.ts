import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMultipart, readFormFields } from './multipart-form.ts';

const type = 'multipart/form-data; boundary=xYz';

function read(lines: readonly string[], contentType = type, names = ['model', 'stream']) {
  const form = readFormFields(Buffer.from(lines.join('\r\n'), 'latin1'), contentType, names);
  return form.kind === 'fields' ? Object.fromEntries(form.values) : form.reason;
}

function part(name: string, value: string): string[] {
  return ['--xYz', `Content-Disposition: form-data; name="${name}"`, '', value];
}

test('named fields are found among files and other fields', () => {
  const file = [
    '--xYz',
    'content-disposition: form-data; name="file"; filename="a"',
    'content-type: audio/wav',
  ];
  const body = [...file, '', '\0\r\n--xY\r\n\r\n--x', ...part('model', 'whisper'), ...part('language', 'de')];
  assert.deepEqual(read([...body, '--xYz--', '']), { model: 'whisper' });
});

test('a boundary may be quoted, a name may not, a preamble and an end without a line are fine', () => {
  const body = ['hello', '--xYz', 'content-disposition: form-data; name=model', '', 'm', '--xYz--'];
  assert.deepEqual(read(body, 'Multipart/Form-Data; charset=utf-8; Boundary="xYz"'), { model: 'm' });
});

test('a field that comes twice counts as it came last, an empty one is empty', () => {
  assert.deepEqual(read([...part('model', 'a'), ...part('model', ''), '--xYz--']), { model: '' });
});

test('a name in the value of a file name is no name of a field', () => {
  const file = ['--xYz', 'content-disposition: form-data; name="file"; filename="x; name=model"', '', 'evil'];
  assert.deepEqual(read([...file, '--xYz--']), {});
});

test('a field that is too long for a name is passed over', () => {
  assert.deepEqual(read([...part('model', 'x'.repeat(1025)), '--xYz--']), {});
});

test('broken forms say what is wrong with them', () => {
  assert.match(String(read(['x'], 'multipart/form-data')), /no boundary/);
  assert.match(String(read(['x'])), /last boundary/);
  assert.match(String(read(part('model', 'm'))), /part 1 has no head or no end/);
  assert.match(String(read(['--xYz', 'content-disposition: form-data'])), /part 1/);
  assert.match(String(read(['--xYz', `x: ${'y'.repeat(9000)}`, '', 'v', '--xYz--'])), /part 1/);
  const many = Array.from({ length: 1100 }, () => part('a', 'b')).flat();
  assert.match(String(read([...many, '--xYz--'])), /more than 1000 parts/);
});

test('only forms are forms', () => {
  assert.ok(isMultipart('multipart/form-data'));
  assert.ok(isMultipart('Multipart/Form-Data ; boundary=x'));
  assert.ok(!isMultipart('multipart/form-data-x'));
  assert.ok(!isMultipart('multipart/mixed; boundary=x'));
  assert.ok(!isMultipart('application/json'));
});
