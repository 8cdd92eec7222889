// F23: nothing that a caller writes is read by a shell or taken as an option of the program.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCliLab, failureOf } from './cli-fixture.ts';

const limit = { timeout: 30_000 };

/** Takes options as agents do: one of them runs what it is told. Says what its prompt was. */
const agent = (canary: string) => `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --) shift; break ;;
    -c) shift; eval "$1"; exit 0 ;;
    -*) touch '${canary}'; echo "an option: $1"; exit 0 ;;
    *) break ;;
  esac
done
if [ $# -gt 0 ]; then printf '%s' "$1"; else cat; fi
`;

function createAgent(test: TestContext) {
  const programs: string[] = [];
  const lab = createCliLab(test, { allow: { programs } });
  const program = join(lab.directory, 'agent');
  const canary = join(lab.directory, 'canary');
  writeFileSync(program, agent(canary));
  chmodSync(program, 0o755);
  programs.push(program);
  const ask = (prompt: string, way: 'stdin' | 'argument') =>
    lab.run('', { program, args: [], prompt: way }, { dialect: 'iop.prompt', body: Buffer.from(prompt) });
  return { lab, canary, ask };
}

const hostile = (canary: string) => [
  '--version',
  '--help',
  '-c',
  `-c touch ${canary}`,
  `--eval=touch ${canary}`,
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  '$(id)',
  ';id',
  `; touch ${canary}`,
  `| touch ${canary}`,
  `&& touch ${canary}`,
  `first line\ntouch ${canary}\n`,
  `'; touch ${canary}; '`,
  `" ; touch ${canary}; "`,
  `\r\ntouch ${canary}`,
  '--',
  '-',
  '*',
  '$HOME $PATH %s %n !! \\x00 \\',
  '@/etc/passwd',
];

describe('F23: a hostile prompt', () => {
  for (const way of ['argument', 'stdin'] as const) {
    it(`given as ${way} comes out as it went in, and runs nothing`, limit, async (test) => {
      const { canary, ask } = createAgent(test);
      for (const prompt of hostile(canary)) {
        const { sink, end } = await ask(prompt, way);
        assert.deepEqual(end, { kind: 'completed', finish: 'stop' }, prompt);
        assert.equal(sink.text(), prompt);
      }
      assert.equal(existsSync(canary), false);
    });

    it(`with a NUL given as ${way} is refused, and nothing is started`, limit, async (test) => {
      const { lab, ask } = createAgent(test);
      const { end } = await ask('before\0after', way);
      assert.equal(failureOf(end).code, 'request.nul');
      assert.equal(failureOf(end).kind, 'invalid');
      assert.equal(lab.marks.length, 0);
    });
  }

  it('of 2 MB goes by stdin whole', limit, async (test) => {
    const { ask } = createAgent(test);
    const prompt = 'lorem ipsum ü '.repeat(145_000);
    const { sink, end } = await ask(prompt, 'stdin');
    assert.equal(end.kind, 'completed');
    assert.equal(sink.text() === prompt, true);
  });

  it('of 2 MB as an argument is refused, and nothing is started', limit, async (test) => {
    const { lab, ask } = createAgent(test);
    const { end } = await ask('x'.repeat(2_000_000), 'argument');
    assert.equal(failureOf(end).code, 'request.too-long');
    assert.match(failureOf(end).message, /2000000 bytes.*131071.*stdin/);
    assert.equal(lab.marks.length, 0);
  });

  it('as long as an argument may be is given', limit, async (test) => {
    const { ask } = createAgent(test);
    const { sink, end } = await ask('x'.repeat(128 * 1024 - 1), 'argument');
    assert.equal(end.kind, 'completed');
    assert.equal(sink.text().length, 128 * 1024 - 1);
  });

  it('of 2 MB does not harm a program that does not read it', limit, async (test) => {
    const lab = createCliLab(test);
    const { sink, end } = await lab.run('echo done', {}, { prompt: 'x'.repeat(2_000_000) });
    assert.equal(end.kind, 'completed');
    assert.equal(sink.text(), 'done\n');
  });

  it('that is not UTF-8 is refused', limit, async (test) => {
    const lab = createCliLab(test);
    const body = Uint8Array.of(0x68, 0xff, 0x69);
    const { end } = await lab.run('cat', {}, { dialect: 'iop.prompt', body });
    assert.equal(failureOf(end).code, 'request.invalid-text');
    assert.equal(lab.marks.length, 0);
  });
});

describe('F23: a hostile target', () => {
  it('that looks like an option is a name that is not there', limit, async (test) => {
    const lab = createCliLab(test);
    const { end } = await lab.run('cat', {}, { target: '--version' });
    assert.equal(failureOf(end).code, 'target.unknown');
    assert.equal(lab.marks.length, 0);
  });
});
