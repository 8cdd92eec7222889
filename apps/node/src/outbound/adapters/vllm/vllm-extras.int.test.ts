import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerStatus, answerStream, chunk, completion, done } from '../../../testing/scripted-upstream.ts';
import { createLab } from './vllm-fixture.ts';

/** What servers take beyond OpenAI's API, written as nobody here would write it. */
const extras: Readonly<Record<string, string>> = {
  priority: '"priority":-5',
  'guided decoding': `"structured_outputs" : {"json":{"type":"object","properties":{"a":{"type":"number","minimum":1E-3}}}}`,
  'guided decoding, older':
    '"guided_json":"{\\"type\\":\\"object\\"}", "guided_regex":"\\\\d+\\u00e9", "guided_choice":["a","b"]',
  'a JSON schema':
    '"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{}}}',
  'a grammar': '"grammar":"root ::= \\"yes\\" | \\"no\\"\\n"',
  sampling:
    '"top_k":40,"min_p":0.050,"repetition_penalty":1.10,"seed":18446744073709551615,"ignore_eos":false',
  templates: '"chat_template_kwargs":{"enable_thinking":false},"add_generation_prompt":true',
  'reasoning and cache':
    '"thinking_token_budget":128,"cache_salt":"s","reasoning_effort":"low","cache_prompt":true',
  'fields of the stream': '"return_token_ids":true,"logprobs":true,"top_logprobs":5,"prompt_logprobs":1',
  tools:
    '"tools":[{"type":"function","function":{"name":"f","parameters":{"model":"deep","stream":0,"n":9}}}],"tool_choice":"required"',
  'keys that look like ours': '"Model":"x"," model":"y","streams":1,"stream_option":{}',
};

describe('vllm: what it does not know goes up untouched', () => {
  for (const [name, extra] of Object.entries(extras)) {
    it(name, async (test) => {
      const stream = await createLab(test, answerStream([chunk('', 'stop'), done]));
      const text = (model: string, options: string) =>
        `{"messages":[ {"role":"user","content":"\\u00e9\\/"} ],"stream_options":${options}, ${extra},\n"model":${model}}`;
      await stream.run({ body: Buffer.from(text('"public"', '{"continuous_usage_stats":true}')) });
      const options = '{"include_usage":true,"continuous_usage_stats":true}';
      assert.equal(stream.upstream.exchanges[0]?.body.toString(), text('"model"', options));

      const whole = await createLab(test, answerStatus(200, completion('hi')));
      const body = Buffer.from(`{"model":"public",${extra}}`);
      await whole.run({ stream: false, body });
      assert.equal(whole.upstream.exchanges[0]?.body.toString(), `{"model":"model",${extra}}`);
    });
  }
});
