import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseMockScript, scriptKeys } from './mock-script.ts';

const guide = readFileSync(new URL('../../../../../../docs/mock.md', import.meta.url), 'utf8');

describe('mock script', () => {
  for (const [json, message] of [
    ['{"text":1}', /text: /],
    ['{"txet":"a"}', /txet/],
    ['{"stall":{"at":-1}}', /stall\.at/],
    ['{"error":{"status":200}}', /error\.status/],
    ['{"size":"2 parsecs"}', /size: expected a size/],
    ['{"size":"2GiB"}', /at most 1GiB/],
    ['{"text":"a","size":1}', /not both/],
    ['{"cut":{},"error":{}}', /one of cut, error and malformed/],
    ['{"tool_calls":[{"name":""}]}', /tool_calls\.0\.name/],
    ['{', /not JSON/],
    ['[]', /script: /],
    ['"x"', /script: /],
  ] as const) {
    it(`refuses ${json} and says where`, () => {
      const parsed = parseMockScript(json);
      assert.equal(parsed.kind, 'invalid');
      assert.match(parsed.kind === 'invalid' ? parsed.message : '', message);
    });
  }

  it('takes an empty script', () => {
    assert.equal(parseMockScript('{}').kind, 'script');
  });
});

describe('docs/mock.md', () => {
  const examples = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');

  it('has examples, all of which are scripts', () => {
    assert.ok(examples.length > 10);
    for (const example of examples) {
      const parsed = parseMockScript(example);
      assert.equal(parsed.kind, 'script', JSON.stringify(parsed) + example);
    }
  });

  it('describes every key, and no other', () => {
    const described = [...guide.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1]);
    assert.deepEqual(described.toSorted(), scriptKeys.toSorted());
  });
});
