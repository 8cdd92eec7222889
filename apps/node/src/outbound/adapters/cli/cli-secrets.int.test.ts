// F24 and C4 with real children: what they are given of the environment, and what is told of it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createCliLab, failureOf } from './cli-fixture.ts';

const limit = { timeout: 30_000 };
const environment = {
  API_KEY: 'canary-4f9d/+== one',
  PEM: '-----BEGIN-----\ncanaryline4f9dAAAA\ncanaryline4f9dBBBB\n-----END-----\n',
  ONE: 'c',
  LEAKY: 'not-passed-canary',
  NODE_OPTIONS: '--no-warnings',
};
const env_pass = ['API_KEY', 'PEM', 'ONE'];
const allow = { environment: ['API_KEY', 'PEM', 'ONE'] };

const prints: readonly { what: string; script: string; profile?: object }[] = [
  { what: 'on stderr', script: 'echo "bad key $API_KEY $PEM" >&2; exit 1' },
  {
    what: 'in base64',
    script: 'printf %s "$API_KEY" | base64 >&2; printf %s "$PEM" | base64 -w0 >&2; exit 1',
  },
  { what: 'within base64', script: 'printf "user:%s" "$API_KEY" | base64 >&2; exit 1' },
  {
    what: 'in a line that is not JSON',
    script: 'echo "$API_KEY"; echo "$PEM"',
    profile: { output: 'jsonl', field: 'a' },
  },
  {
    what: 'in the line by which it reports',
    script: 'printf \'{"error":"key %s"}\\n\' "$API_KEY"; sleep 5',
    profile: { output: 'jsonl', field: 'a', fail: { error: 'key canary-4f9d/+== one' }, message: 'error' },
  },
  {
    what: 'behind a long text',
    script: 'head -c 4090 /dev/zero | tr "\\0" . ; echo "$API_KEY"; exit 1',
    profile: { output: 'jsonl', field: 'a' },
  },
];

describe('F24: a secret that a program prints', () => {
  for (const { what, script, profile } of prints) {
    it(`${what} is not in the failure`, limit, async (test) => {
      const lab = createCliLab(test, { environment, allow });
      const { end } = await lab.run(script, { env_pass, ...profile });
      const text = JSON.stringify(failureOf(end));
      assert.doesNotMatch(text, /canary|4f9d/);
      assert.doesNotMatch(text, /Y2FuYXJ5|jYW5hcn|NhbmFye/);
    });
  }

  it('is hidden beside what is no secret', limit, async (test) => {
    const lab = createCliLab(test, { environment, allow });
    const { end } = await lab.run('echo "access denied: $API_KEY; call c" >&2; exit 1', { env_pass });
    assert.match(failureOf(end).message, /access denied: \*\*\*; call c$/);
  });

  it('is hidden also where the Edge has set it', limit, async (test) => {
    const lab = createCliLab(test);
    const env = { MY_TOKEN: 'canary-token', MODE: 'verbose' };
    const { end } = await lab.run('echo "$MY_TOKEN $MODE" >&2; exit 1', { env });
    assert.match(failureOf(end).message, /ends with: \*\*\* verbose$/);
  });
});

describe('C4: the environment of a child', () => {
  it('holds what is always there, what is set and what is passed, and nothing else', limit, async (test) => {
    const lab = createCliLab(test, { environment, allow });
    const { sink } = await lab.run('env | cut -d= -f1 | sort', {
      env: { MODE: 'x' },
      env_pass: ['API_KEY'],
    });
    const names = sink.text().trim().split('\n');
    assert.deepEqual(
      names.filter((name) => !['OLDPWD', 'PWD', 'SHLVL', '_'].includes(name)),
      ['API_KEY', 'IOP_RUN_MARK', 'MODE', 'NO_COLOR', 'PATH', 'TERM'],
    );
  });
});

describe('C3: the working directory', () => {
  it('is where the profile says, and not where a link leads out', limit, async (test) => {
    const lab = createCliLab(test);
    const outside = mkdtempSync(join(tmpdir(), 'iop-outside-'));
    test.after(() => rmSync(outside, { recursive: true }));
    mkdirSync(join(lab.directory, 'in'));
    symlinkSync(join(lab.directory, 'in'), join(lab.directory, 'good'));
    symlinkSync(outside, join(lab.directory, 'bad'));
    const inside = await lab.run('pwd -P', { directory: join(lab.directory, 'good') });
    assert.equal(inside.sink.text(), `${join(lab.directory, 'in')}\n`);
    for (const directory of ['bad', '../', 'in/../..', 'gone'].map((name) => `${lab.directory}/${name}`)) {
      const { end } = await lab.run('pwd', { directory });
      assert.equal(failureOf(end).code, 'cli.not-allowed', directory);
    }
    assert.equal(lab.marks.length, 1);
  });

  it('is looked at anew before every start', limit, async (test) => {
    const lab = createCliLab(test);
    const link = join(lab.directory, 'work');
    mkdirSync(join(lab.directory, 'in'));
    symlinkSync(join(lab.directory, 'in'), link);
    assert.equal((await lab.run('pwd', { directory: link })).end.kind, 'completed');
    rmSync(link);
    symlinkSync('/', link);
    assert.equal(failureOf((await lab.run('pwd', { directory: link })).end).code, 'cli.not-allowed');
  });
});
