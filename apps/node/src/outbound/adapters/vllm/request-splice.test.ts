import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spliceRequest } from './request-splice.ts';

function splice(text: string, includeUsage = false, model = 'm') {
  const result = spliceRequest(new TextEncoder().encode(text), { model, includeUsage });
  assert.equal(result.kind, 'spliced', JSON.stringify(result));
  return result.kind === 'spliced'
    ? { text: new TextDecoder().decode(result.body), choices: result.choices }
    : assert.fail();
}

describe('request splice', () => {
  it('replaces the model and leaves every other byte alone', () => {
    const before =
      ' {\r\n "temperature" : 0.10000 ,"model":"a\\"b" , "seed":12345678901234567890,\t"x":"\\u00e9" } ';
    assert.equal(splice(before).text, before.replace('"a\\"b"', '"m"'));
  });

  it('adds a model where there is none', () => {
    assert.equal(splice('{"messages":[]}').text, '{"model":"m","messages":[]}');
    assert.equal(splice('{ }').text, '{"model":"m" }');
  });

  it('quotes a model name that needs it', () => {
    assert.equal(splice('{"model":1}', false, 'a"b\n').text, '{"model":"a\\"b\\n"}');
  });

  it('does not touch a model key deeper in the body, or one in a string', () => {
    const body = '{"a":{"model":"deep"},"b":"\\"model\\":1","model":"x"}';
    assert.equal(splice(body).text, body.replace('"x"', '"m"'));
  });

  it('sets a key that is written twice, or with escapes, everywhere', () => {
    assert.equal(splice('{"model":"a","mod\\u0065l":"b"}').text, '{"model":"m","mod\\u0065l":"m"}');
  });

  it('asks for usage whatever stream_options were', () => {
    const asked = '"stream_options":{"include_usage":true}';
    assert.equal(splice('{"model":"a"}', true).text, `{${asked},"model":"m"}`);
    assert.equal(splice('{"model":1,"stream_options":null}', true).text, `{"model":"m",${asked}}`);
    assert.equal(splice('{"model":1,"stream_options":{}}', true).text, `{"model":"m",${asked}}`);
    assert.equal(
      splice('{"model":1,"stream_options":{ "include_usage" : false , "z":1 }}', true).text,
      '{"model":"m","stream_options":{ "include_usage" : true , "z":1 }}',
    );
    assert.equal(
      splice('{"model":1,"stream_options":{"z":{"include_usage":0}}}', true).text,
      '{"model":"m","stream_options":{"include_usage":true,"z":{"include_usage":0}}}',
    );
  });

  it('leaves stream_options alone when usage is not to be asked for', () => {
    assert.equal(
      splice('{"stream_options":{"a":1},"model":0}').text,
      '{"stream_options":{"a":1},"model":"m"}',
    );
  });

  it('forces a stream, or none, and then no options of one', () => {
    const force = (text: string, stream: boolean) => {
      const result = spliceRequest(Buffer.from(text), { model: 'm', includeUsage: stream, stream });
      return result.kind === 'spliced' ? Buffer.from(result.body).toString() : result.kind;
    };
    const options = '"stream_options":{"include_usage":true}';
    assert.equal(force('{"model":1,"stream":true}', false), '{"model":"m","stream":false}');
    assert.equal(
      force(`{${options},"model":1}`, false),
      '{"stream":false,"stream_options":null,"model":"m"}',
    );
    assert.equal(force('{"stream" : null,"model":1}', true), `{${options},"stream" : true,"model":"m"}`);
    assert.equal(force('{}', true), `{"model":"m","stream":true,${options}}`);
  });

  it('reads whether there are tools, and the encoding of embeddings', () => {
    const read = (text: string) => {
      const result = spliceRequest(Buffer.from(text), { model: 'm', includeUsage: false });
      return result.kind === 'spliced' && [result.hasTools, result.wantsBase64];
    };
    assert.deepEqual(read('{}'), [false, false]);
    assert.deepEqual(read('{"tools":[ ],"encoding_format":"float"}'), [false, false]);
    assert.deepEqual(read('{"tools":[ {} ],"encoding_format":"base64"}'), [true, true]);
    assert.deepEqual(read('{"tools":null,"encoding_format":"b\\u0061se64"}'), [false, true]);
    assert.deepEqual(read('{"tools":"[1]","encoding_format":64}'), [false, false]);
  });

  it('reads how many choices are asked for', () => {
    assert.equal(splice('{"model":"a","n":3}').choices, 3);
    assert.equal(splice('{"model":"a","n":"3"}').choices, 1);
    assert.equal(splice('{"model":"a","n":null}').choices, 1);
    assert.equal(splice('{"model":"a"}').choices, 1);
  });

  for (const text of ['', '[]', '"x"', '{', '{"a":1', '{"a":1}x', '{a:1}', '{"a":1,}', '\ufeff{}']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const result = spliceRequest(new TextEncoder().encode(text), { model: 'm', includeUsage: true });
      assert.equal(result.kind, 'invalid');
    });
  }
});
