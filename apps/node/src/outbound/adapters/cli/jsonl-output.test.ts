import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CliProfile, parseCliProfile } from '@iop/cli-profile';
import type { OutputStep } from './child-output.ts';
import { JsonlOutput } from './jsonl-output.ts';
import { TextOutput } from './text-output.ts';

function profileOf(values: object): CliProfile {
  const whole = { program: 'agent', directory: '/', output: 'jsonl', field: 'item.text', ...values };
  const parsed = parseCliProfile(JSON.stringify(whole));
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.join('; '));
  return parsed.profile;
}

/** Texts and the last verdict; `piece`: bytes of one read. */
function read(profile: CliProfile, text: string | Uint8Array, piece = 1_000_000) {
  const output = new JsonlOutput(profile);
  const bytes = Buffer.from(text);
  const steps: OutputStep[] = [];
  for (let at = 0; at < bytes.length; at += piece) {
    steps.push(output.push(bytes.subarray(at, at + piece)));
    if (steps.at(-1)?.verdict !== 'more') break;
  }
  if (steps.every(({ verdict }) => verdict === 'more')) steps.push(output.finish());
  const texts = steps
    .flatMap(({ events }) => events)
    .map((event) => (event.kind === 'text' ? event.text : '?'));
  const verdict = steps.at(-1)?.verdict ?? 'more';
  return {
    texts,
    verdict: typeof verdict === 'string' ? verdict : verdict.failure.code,
    step: steps.at(-1),
    output,
  };
}

const codex = {
  where: { type: 'item.completed', 'item.type': 'agent_message' },
  separator: '\n\n',
  end: { type: 'turn.completed' },
  fail: { type: 'turn.failed' },
  message: 'error.message',
  usage: {
    where: { type: 'turn.completed' },
    prompt: 'usage.input_tokens',
    completion: 'usage.output_tokens',
  },
};
const turn = [
  { type: 'thread.started', thread_id: 'x' },
  { type: 'item.completed', item: { type: 'reasoning', text: 'hm' } },
  { type: 'item.completed', item: { type: 'agent_message', text: 'Hällo 🙂' } },
  { type: 'error', message: 'Reconnecting… 1/5' },
  { type: 'item.completed', item: { type: 'agent_message', text: 'world' } },
  { type: 'turn.completed', usage: { input_tokens: 12, output_tokens: 3 } },
]
  .map((line) => JSON.stringify(line))
  .join('\n');

describe('jsonl output', () => {
  it('is the texts of the lines that match, wherever reads divide it', () => {
    for (let piece = 1; piece < turn.length; piece += piece < 12 ? 1 : 37) {
      const { texts, verdict, output } = read(profileOf(codex), `${turn}\n`, piece);
      assert.deepEqual(texts, ['Hällo 🙂', '\n\nworld']);
      assert.equal(verdict, 'answered');
      assert.deepEqual(output.usage, { promptTokens: 12, completionTokens: 3, estimated: false });
    }
  });

  it('ends at the end line: what comes after it does not count', () => {
    const more = JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text: 'late' } });
    assert.deepEqual(read(profileOf(codex), `${turn}\n${more}\n`).texts.length, 2);
  });

  it('is not an answer without the end line', () => {
    const cut = turn.slice(0, turn.lastIndexOf('\n') + 1);
    assert.equal(read(profileOf(codex), cut).verdict, 'cli.no-end');
    assert.equal(read(profileOf(codex), `${turn}`).verdict, 'answered', 'a last line needs no newline');
  });

  it('fails with the words of the line that says so', () => {
    const line = JSON.stringify({ type: 'turn.failed', error: { message: 'no quota' } });
    const { verdict, step } = read(profileOf(codex), `${line}\n${turn}`);
    assert.equal(verdict, 'cli.reported');
    assert.match(JSON.stringify(step), /agent reports: no quota/);
  });

  it('fails at a line that is no object, or skips it, as the profile says', () => {
    for (const line of ['plain text', '"text"', '12', 'null', '{"cut":', '\ufffd{']) {
      assert.equal(read(profileOf({}), `${line}\n`).verdict, 'cli.output-invalid', line);
      assert.equal(read(profileOf({ other_lines: 'skip' }), `${line}\n`).verdict, 'more', line);
    }
    assert.equal(read(profileOf({}), Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a)).verdict, 'cli.output-invalid');
    assert.equal(read(profileOf({}), '\n \r\n\n').verdict, 'more', 'empty lines are nothing');
  });

  it('follows paths through lists, and only to own properties', () => {
    const line = (value: object) => `${JSON.stringify(value)}\n`;
    const field = 'choices.0.delta';
    assert.deepEqual(read(profileOf({ field }), line({ choices: [{ delta: 'x' }] })).texts, ['x']);
    for (const value of [{}, { choices: {} }, { choices: [{ delta: 1 }] }, { choices: [{ delta: '' }] }])
      assert.deepEqual(read(profileOf({ field }), line(value)).texts, []);
    assert.deepEqual(read(profileOf({ field: 'constructor.name' }), line({})).texts, []);
    const matched = profileOf({ where: { __proto__: null, toString: 'x' } });
    assert.deepEqual(read(matched, line({ item: { text: 'x' } })).texts, []);
  });

  it('takes a line up to its bound and not beyond', () => {
    const profile = profileOf({ max_line: 40, field: 't' });
    const line = (length: number) => `${JSON.stringify({ t: 'x'.repeat(length - 8) })}\n`;
    assert.equal(read(profile, line(40), 7).verdict, 'more');
    assert.equal(read(profile, line(41), 7).verdict, 'cli.line-too-long');
  });

  it('takes no usage that is not a count', () => {
    const usage = { prompt: 'p', completion: 'c' };
    for (const c of [-1, 1.5, '3', null, 1e300]) {
      assert.equal(read(profileOf({ usage }), JSON.stringify({ p: 1, c })).output.usage, undefined);
    }
  });
});

describe('text output', () => {
  it('is the same text wherever reads divide it, in events of at most 48 KiB', () => {
    const text = `${'ünï🙂\r\n'.repeat(9_000)}`;
    const bytes = Buffer.from(text);
    for (const piece of [1, 3, 4_096, 65_536]) {
      const output = new TextOutput('agent');
      const events = [];
      for (let at = 0; at < bytes.length; at += piece)
        events.push(...output.push(bytes.subarray(at, at + piece)).events);
      events.push(...output.finish().events);
      const texts = events.map((event) => (event.kind === 'text' ? event.text : ''));
      assert.equal(texts.join('') === text, true);
      assert.ok(texts.every((each) => Buffer.byteLength(each) <= 48 * 1024 && each.isWellFormed()));
    }
  });
});
