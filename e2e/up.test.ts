// `bin/up`: from a fresh folder to a served request, and back to nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { freePort } from './harness/port.ts';
import { binUp, iopMain, isAlive, startUp, type Up, type UpFacts } from './harness/up.ts';

const limit = { timeout: 180_000 };
const root = mkdtempSync(join(tmpdir(), 'iop-up-'));
after(() => rmSync(root, { recursive: true }));

const started: Up[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((up) => up.stop()));
});

interface Place {
  stateDir: string;
  portBase: number;
}

async function newPlace(): Promise<Place> {
  return { stateDir: join(mkdtempSync(join(root, 's-')), 'state'), portBase: await freePortBase() };
}

/** N and N + 80 are both free. */
async function freePortBase(): Promise<number> {
  return (await freePort()) - 80;
}

function up({ stateDir, portBase }: Place, ...more: string[]): Up {
  const running = startUp([
    process.execPath,
    iopMain,
    'up',
    '--state-dir',
    stateDir,
    '--port-base',
    String(portBase),
    ...more,
  ]);
  started.push(running);
  return running;
}

async function chat(
  { edge, apiKey }: UpFacts,
  model = 'echo',
): Promise<{ status: number; content: string | undefined }> {
  const answer = await fetch(`${edge.http}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
  return { status: answer.status, content: body.choices?.[0]?.message.content };
}

describe('iop up', () => {
  test('prints one line when a request can really be served, and keeps identity and key', limit, async () => {
    const place = await newPlace();
    const first = startUp([
      binUp,
      '--json',
      '--state-dir',
      place.stateDir,
      '--port-base',
      String(place.portBase),
    ]);
    started.push(first);
    const facts = await first.facts();
    assert.equal(first.out.trimEnd().split('\n').length, 1, first.out);
    assert.deepEqual(Object.keys(facts), ['edge', 'apiKey', 'stateDir']);
    assert.equal(facts.edge.http, `http://127.0.0.1:${place.portBase + 80}`);
    assert.equal(facts.edge.wire, `127.0.0.1:${place.portBase}`);
    assert.equal(facts.stateDir, place.stateDir);
    assert.equal((await chat(facts)).content, 'Hello');
    assert.equal(statSync(place.stateDir).mode & 0o077, 0, 'others can look into the state directory');

    const parts = first.partPids();
    assert.equal(parts.length, 2);
    assert.deepEqual(await first.stop(), { code: 0, signal: null });
    assert.deepEqual(parts.filter(isAlive), []);

    const second = up(place, '--json');
    assert.deepEqual(await second.facts(), facts);
    assert.equal((await chat(facts)).content, 'Hello');
  });

  test('shows a person where all is, and its examples work as they are printed', limit, async () => {
    const place = await newPlace();
    const running = up(place);
    await eventually('the examples are printed', 60_000, () => running.out.includes('--target echo'));
    assert.match(running.out, /API key {5}iop_/);
    assert.match(running.out, /models .*echo \(mock\)/);
    const [curl = '', npm = '', iop = ''] = examplesOf(running.out);
    assert.match(sh(curl), /"content":\s?"Hello"/);
    // What is installed for the tests stands in for `npm install openai`.
    assert.equal(sh(npm.replace(/npm install openai && /, ''), join(import.meta.dirname)), 'Hello\n');
    assert.equal(sh(iop), 'Hello\n');
  });

  test('refuses a second one on the same state directory, naming the pid of the first', limit, async () => {
    const place = await newPlace();
    const first = up(place, '--json');
    await first.facts();
    const second = up({ ...place, portBase: await freePortBase() }, '--json');
    assert.equal((await second.exited).code, 75);
    assert.match(second.err, new RegExp(`pid ${first.pid}\\b`));
    assert.equal(second.out, '');
  });

  test('names a busy port and what to do', limit, async () => {
    const place = await newPlace();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(place.portBase + 80, '127.0.0.1', resolve));
    try {
      const running = up(place);
      assert.equal((await running.exited).code, 75);
      assert.match(running.err, new RegExp(`port ${place.portBase + 80} \\(HTTP\\).*--port-base`));
    } finally {
      server.close();
    }
  });

  test('ends with Ctrl-C, with exit code 0 and nothing left', limit, async () => {
    const running = up(await newPlace(), '--json');
    await running.facts();
    const parts = running.partPids();
    running.signal('SIGINT');
    assert.equal((await running.exited).code, 0);
    assert.deepEqual(parts.filter(isAlive), []);
  });

  for (const which of [0, 1]) {
    test(`ends with the exit code of the part that died (${which})`, limit, async () => {
      const running = up(await newPlace(), '--json');
      await running.facts();
      const parts = running.partPids();
      process.kill(parts[which] ?? 0, 'SIGKILL');
      const before = performance.now();
      assert.equal((await running.exited).code, 137);
      assert.ok(performance.now() - before < 10_500, 'it took more than 10 s');
      assert.match(running.err, /ended by itself \(exit code 137\)/);
      assert.deepEqual(parts.filter(isAlive), []);
    });
  }

  test('leaves no part behind even when it is killed itself', limit, async () => {
    const running = up(await newPlace(), '--json');
    await running.facts();
    const parts = running.partPids();
    running.signal('SIGKILL');
    await running.exited;
    await eventually('the parts are gone', 12_000, () => !parts.some(isAlive));
  });

  test('says what is wrong with its options', limit, async () => {
    const place = await newPlace();
    const wrong = up({ ...place, portBase: 70_000 });
    assert.equal((await wrong.exited).code, 64);
    assert.match(wrong.err, /--port-base takes a whole number from 1 to 65455/);
    const file = join(place.stateDir, '..', 'file');
    spawnSync('touch', [file]);
    const blocked = up({ ...place, stateDir: file });
    assert.equal((await blocked.exited).code, 78);
    assert.match(blocked.err, /a file of that name is in the way/);
    assert.ok(readdirSync(join(place.stateDir, '..')).length <= 1);
  });
});

test(
  'a server of the OpenAI dialect that is started later is offered by its own name',
  limit,
  async (context) => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/v1/models')
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'late-model', object: 'model' }] }));
      else response.writeHead(404).end('{}');
    });
    const port = await listenOnUsualPort(server);
    if (port === undefined) return context.skip('up-usual-ports: all usual ports are in use on this machine');
    server.close();
    server.closeAllConnections();
    const running = up(await newPlace(), '--json');
    const { edge, apiKey } = await running.facts();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    try {
      await eventually('the model is listed', 40_000, async () => {
        const answer = await fetch(`${edge.http}/v1/models`, {
          headers: { authorization: `Bearer ${apiKey}` },
        });
        return (await answer.text()).includes('"late-model"');
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);

async function listenOnUsualPort(server: ReturnType<typeof createServer>): Promise<number | undefined> {
  for (const port of [30000, 1234, 8001, 8000, 8080]) {
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    server.removeAllListeners('error');
    if (free) return port;
  }
  return undefined;
}

/** The three commands below "Try it". */
function examplesOf(text: string): string[] {
  return text
    .slice(text.indexOf('Try it'))
    .split('\n\n')
    .slice(1)
    .filter((part) => part.trim() !== '');
}

function sh(command: string, cwd = root): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const done = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8', timeout: 30_000 });
  assert.equal(done.status, 0, `${command}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}
