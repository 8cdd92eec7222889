import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerAssembly } from './answer-assembly.ts';
import { answerEvents } from './answer-events.ts';
import type { Fields } from './choice-assembly.ts';

const head = { id: 'c1', object: 'chat.completion.chunk', created: 7, model: 'm' };

function assemble(...chunks: Fields[]): Fields {
  const assembly = new AnswerAssembly();
  for (const chunk of chunks) assembly.add(structuredClone(chunk));
  return JSON.parse(JSON.stringify(assembly.whole()));
}

const delta = (value: Fields, rest: Fields = {}) => ({
  ...head,
  choices: [{ index: 0, delta: value, finish_reason: null, ...rest }],
});
const finish = (reason: string, rest: Fields = {}) => delta({}, { finish_reason: reason, ...rest });

function chunksOf(answer: Fields, includeUsage = true): Fields[] {
  return [...answerEvents(answer, includeUsage)].map((event) => {
    const text = Buffer.from(event).toString();
    assert.match(text, /^data: \{.*\}\n\n$/);
    return JSON.parse(text.slice(6));
  });
}

const message = { role: 'assistant', content: 'hello 😀', refusal: null };
const call = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

const answers: Readonly<Record<string, Fields>> = {
  text: { choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop', stop_reason: 128009 }] },
  reasoning: {
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'b', reasoning_content: 'hm', reasoning: 'hm' },
        logprobs: null,
        finish_reason: 'length',
      },
    ],
  },
  tools: {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [call('call_1', 'f', '{"a":1}'), call('call_2', 'g', '{}')],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
  },
  many: {
    choices: [0, 1, 2].map((index) => ({
      index,
      message: { role: 'assistant', content: `c${index}` },
      logprobs: { content: [{ token: 'c', logprob: -0.5, bytes: [99], top_logprobs: [] }] },
      finish_reason: 'stop',
    })),
    system_fingerprint: 'fp',
    timings: { predicted_n: 3 },
  },
  long: {
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '😀'.repeat(20_001) },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
  },
};
const usage = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
};

describe('a whole answer told as a stream, and put together again', () => {
  for (const [name, parts] of Object.entries(answers)) {
    it(`is the same: ${name}`, () => {
      const answer = { id: 'c1', object: 'chat.completion', created: 7, model: 'm', usage, ...parts };
      const wanted = structuredClone(answer) as unknown as { choices: { message: Fields }[] };
      for (const choice of wanted.choices) {
        // A stream begins with an empty text, and says nothing of what is null.
        choice.message.content ??= '';
        if (choice.message.refusal === null) delete choice.message.refusal;
      }
      assert.deepEqual(assemble(...chunksOf(answer)), wanted);
    });
  }

  it('is the same for completions, whose logprobs are lists side by side', () => {
    const logprobs = {
      tokens: ['a', 'b'],
      token_logprobs: [-1, -2],
      top_logprobs: null,
      text_offset: [0, 1],
    };
    const answer = {
      id: 'c1',
      object: 'text_completion',
      created: 7,
      model: 'm',
      choices: [
        { index: 0, text: 'ab', logprobs, finish_reason: 'stop' },
        { index: 1, text: '', logprobs: null, finish_reason: 'length' },
      ],
      usage,
    };
    assert.deepEqual(assemble(...chunksOf(answer)), answer);
  });
});

describe('a stream put together', () => {
  it('adds up texts and lists, and takes the first word on everything else of the answer', () => {
    const probs = (token: string) => ({ logprobs: { content: [{ token }], refusal: null } });
    const whole = assemble(
      delta({ role: 'assistant', content: null }),
      { ...delta({ reasoning_content: 'h' }), system_fingerprint: null },
      { ...delta({ role: 'assistant', reasoning_content: 'm' }), system_fingerprint: 'fp' },
      delta({ content: 'a' }, probs('a')),
      delta({ content: 'b' }, probs('b')),
      { ...finish('stop', { stop_reason: 2 }), timings: { n: 1 } },
      { ...head, choices: [], usage },
    );
    assert.deepEqual(whole, {
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'ab', reasoning_content: 'hm' },
          logprobs: { content: [{ token: 'a' }, { token: 'b' }], refusal: null },
          finish_reason: 'stop',
          stop_reason: 2,
        },
      ],
      usage,
      system_fingerprint: 'fp',
      timings: { n: 1 },
    });
  });

  it('keeps calls of tools apart by index, mixed and with empty repeats', () => {
    const piece = (index: number, called: Fields, id?: string) =>
      delta({ tool_calls: [{ index, ...(id && { id, type: 'function' }), function: called }] });
    const whole = assemble(
      piece(0, { name: 'f', arguments: '' }, 'call_1'),
      piece(1, { name: 'g', arguments: '{' }, 'call_2'),
      piece(0, { name: '', arguments: '{"a":' }),
      piece(1, { arguments: '}' }),
      piece(0, { name: null, arguments: '1}' }),
      finish('tool_calls'),
    );
    const [choice] = whole.choices as { message: Fields; finish_reason: string }[];
    assert.deepEqual(choice?.message.tool_calls, [call('call_1', 'f', '{"a":1}'), call('call_2', 'g', '{}')]);
    assert.equal(choice?.message.content, null);
    assert.equal(choice?.finish_reason, 'tool_calls');
  });

  it('keeps calls without an index apart by their ids', () => {
    const piece = (id: string | undefined, name: string | undefined, text: string) =>
      delta({ tool_calls: [{ id, function: { name, arguments: text } }] });
    const whole = assemble(piece('a', 'f', '{'), piece(undefined, undefined, '}'), piece('b', 'g', '{}'));
    const [choice] = whole.choices as { message: Fields }[];
    assert.deepEqual(choice?.message.tool_calls, [call('a', 'f', '{}'), call('b', 'g', '{}')]);
  });

  it('lets no key reach beyond the answer', () => {
    const evil =
      JSON.parse(`{"choices":[{"index":0,"__proto__":{"polluted":1},"delta":{"__proto__":{"polluted":1},
      "a":{"__proto__":{"polluted":1}},"constructor":{"prototype":{"polluted":1}}},"finish_reason":"stop"}],
      "__proto__":{"polluted":1}}`);
    const assembly = new AnswerAssembly();
    for (let i = 0; i < 2; i++) assembly.add(JSON.parse(JSON.stringify(evil)));
    assert.equal(({} as Fields).polluted, undefined);
    assert.equal((Object as unknown as Fields).polluted, undefined);
  });

  it('leaves no usage chunk where none is asked for', () => {
    const chunks = chunksOf({ ...head, object: 'chat.completion', choices: [], usage }, false);
    assert.deepEqual(chunks, []);
  });
});
