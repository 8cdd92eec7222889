import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundaryOf, spliceForm } from './multipart-model.ts';

const type = 'multipart/form-data; boundary=xYz';

/** Fields as [headers, value]; `latin1` keeps every byte. */
function form(...parts: [string, string][]): Buffer {
  const text = parts.map(([headers, value]) => `--xYz\r\n${headers}\r\n\r\n${value}\r\n`).join('');
  return Buffer.from(`${text}--xYz--\r\n`, 'latin1');
}

const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const file = 'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav';
const binary = '\x00\xff\r\n--xY\r\n\r\n--\r\n model \r\n';

function splice(body: Buffer, contentType = type): string {
  const spliced = spliceForm(body, contentType, 'target');
  return spliced.kind === 'spliced' ? Buffer.from(spliced.body).toString('latin1') : spliced.message;
}

describe('multipart form', () => {
  it('is left as it is when its model is the target', () => {
    const body = form([field('model'), 'target'], [file, binary]);
    const spliced = spliceForm(body, type, 'target');
    assert.equal(spliced.kind === 'spliced' && spliced.body, body);
  });

  it('gets the target as its model, and nothing else changes', () => {
    for (const headers of [
      field('model'),
      'content-type: text/plain\r\ncontent-disposition:form-data;name=model',
      'Content-Disposition: form-data; name="mo\\del"',
    ]) {
      const body = form([file, binary], [headers, 'public/name'], [field('prompt'), 'model=public/name']);
      const wanted = form([file, binary], [headers, 'target'], [field('prompt'), 'model=public/name']);
      assert.equal(splice(body), wanted.toString('latin1'));
    }
  });

  it('gets it in every field of that name, in an empty one and in a missing one', () => {
    assert.equal(
      splice(form([field('model'), 'a'], [field('x'), '1'], [field('model'), ''])),
      form([field('model'), 'target'], [field('x'), '1'], [field('model'), 'target']).toString('latin1'),
    );
    assert.equal(
      splice(form([file, binary])),
      form([field('model'), 'target'], [file, binary]).toString('latin1'),
    );
  });

  it('is refused when it is no whole form, or can be read in two ways', () => {
    const whole = form([field('model'), 'a']);
    for (const body of [
      Buffer.alloc(0),
      whole.subarray(0, whole.length - 8),
      whole.subarray(0, 20),
      Buffer.from(`preamble\r\n${whole}`),
      Buffer.from(whole.toString().replaceAll('\r\n', '\n')),
      form(['Content-Disposition: form-data; name="model"; name="x"', 'a']),
      form(["Content-Disposition: form-data; name*=utf-8''model", 'a']),
      form([`${field('x')}\r\n${field('model')}`, 'a']),
      form(['Content-Disposition: form-data;\r\n name="model"', 'a']),
      form(['Content-Disposition: form-data; filename="; name=model"; name="x"', 'a']),
    ]) {
      assert.match(splice(body), /^the form cannot be read/, body.toString());
    }
    assert.match(splice(whole, 'multipart/form-data'), /names no boundary/);
  });

  it('has its boundary quoted or not, among other parameters', () => {
    assert.equal(boundaryOf('multipart/form-data; boundary=----WebKit7'), '----WebKit7');
    assert.equal(boundaryOf('multipart/form-data;charset=utf-8; Boundary="a b"; x=1'), 'a b');
    assert.equal(boundaryOf('multipart/form-data; boundary="a'), undefined);
    assert.equal(boundaryOf(`multipart/form-data; boundary=${'x'.repeat(71)}`), undefined);
  });
});
