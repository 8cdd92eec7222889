// F24: values that were passed to a program, in the forms in which it may print them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SecretMask } from './secret-mask.ts';
import { StderrTail } from './stderr-tail.ts';

const pem = '-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0\nZ2Zx?~ünd/+==kaQ8\n-----END KEY-----\n';
const secrets = ['s3cr3t-canary/+?&=~ü', pem, 'tiger', 'x'];

/** Everything that must not stand in a text. */
const forms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const url = encodeURIComponent(value);
  return [
    value,
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`user:${value}`).toString('base64'),
    Buffer.from(`u:${value}:v`).toString('base64url'),
    url,
    url.replace(/%../g, (hex) => hex.toLowerCase()),
    bytes.toString('hex'),
    JSON.stringify({ value }),
  ];
};

/** Pieces of eight characters of the forms, so that halves are found too. */
const canaries = new Set(
  [secrets[0] ?? '', 'MIIBVgIBADANBgkqhkiG9w0'].flatMap((value) => {
    const all = [
      value,
      encodeURIComponent(value),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('hex'),
    ];
    return all.flatMap((form) => Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8)));
  }),
);

function assertHidden(text: string): void {
  for (const canary of canaries) assert.equal(text.includes(canary), false, `${canary} stands in ${text}`);
}

function tailOf(...chunks: Uint8Array[]): string {
  const tail = new StderrTail(new SecretMask(secrets));
  for (const chunk of chunks) tail.push(chunk);
  return tail.text();
}

describe('F24: masked text', () => {
  for (const secret of [secrets[0] ?? '', pem]) {
    for (const [index, form] of forms(secret).entries()) {
      it(`hides ${secret === pem ? 'a key of several lines' : 'a value'} in form ${index}`, () => {
        const masked = new SecretMask(secrets).mask(`before ${form} after`);
        assertHidden(masked);
        assert.match(masked, /^before .*\*\*\*.* after$/s);
      });

      it(`hides it in form ${index} wherever chunks divide it (${secret.length})`, () => {
        const bytes = Buffer.from(`before ${form} after`);
        for (let at = 0; at <= bytes.length; at++) {
          const text = tailOf(bytes.subarray(0, at), bytes.subarray(at));
          assertHidden(text);
          assert.match(text, /before .* after/s);
        }
        assertHidden(tailOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))));
      });

      it(`hides it in form ${index} wherever the tail begins (${secret.length})`, () => {
        const bytes = Buffer.from(form);
        for (let at = 0; at <= bytes.length; at += bytes.length > 200 ? 3 : 1) {
          const after = Buffer.alloc(8 * 1024 - bytes.length + at, '\n');
          const tail = new StderrTail(new SecretMask(secrets));
          tail.push(Buffer.from('long before '));
          tail.push(bytes);
          tail.push(after);
          assertHidden(tail.text());
        }
      });
    }
  }

  it('hides a short value where it is a word, and leaves other words whole', () => {
    const mask = new SecretMask(secrets);
    assert.equal(mask.mask('password=tiger; tigers, tiger!'), 'password=***; tigers, ***!');
  });

  it('is not blanked by a value of one character', () => {
    const mask = new SecretMask(['x', 'a', '']);
    assert.equal(mask.mask('axe: exit code 3, a x'), 'axe: exit code 3, a x');
  });
});
