import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkImport, rowOf, targetOf } from './arch/check-imports.ts';
import {
  dependenciesOfLockfile,
  dependenciesOfManifest,
  findForbidden,
  forbiddenDependencies,
} from './arch/forbidden-dependencies.ts';
import { findForbiddenWords, wordTable } from './arch/forbidden-words.ts';
import { importTable } from './arch/import-table.ts';
import { withTable } from './arch/render-table.ts';
import { readSources, root, scanImports } from './arch/scan-imports.ts';

const sources = readSources();
const imports = sources.flatMap(scanImports);

const violationsOf = (path: string, text: string): string[] =>
  scanImports({ path, text }).flatMap((found) => checkImport(found)?.text ?? []);

test('the whole tree was looked at', () => {
  assert.ok(sources.length > 100, `${sources.length} files`);
  assert.ok(imports.length > 400, `${imports.length} imports`);
  for (const room of ['packages/link/', 'apps/edge/src/core/', 'apps/node/', 'apps/cli/', 'e2e/', 'tools/']) {
    assert.ok(
      sources.some(({ path }) => path.startsWith(room)),
      room,
    );
  }
});

test('every import is in the import table', () => {
  const violations = imports.flatMap((found) => checkImport(found) ?? []);
  const lines = violations.map(
    ({ file, line, specifier, text }) => `${file}:${line} imports ${specifier}: ${text}`,
  );
  assert.equal(lines.join('\n'), '');
});

test('every import leads to a file that is there', () => {
  const relative = imports.filter(({ specifier }) => /^(\.|@iop\/)/.test(specifier));
  const missing = relative.filter((found) => !existsSync(join(root, targetOf(found))));
  assert.equal(missing.map(({ file, line, specifier }) => `${file}:${line} ${specifier}`).join('\n'), '');
});

test('planted imports against the table are found', () => {
  const planted: readonly [string, string][] = [
    ['packages/domain/src/x.ts', `import { readFileSync } from 'node:fs';`],
    ['packages/wire/src/x.ts', `import type { Link } from '@iop/link';`],
    ['packages/runtime/src/x.ts', `import type { RunEvent } from '@iop/wire';`],
    ['packages/link/src/live/x.ts', `import { connect } from 'node:net';`],
    ['packages/shell/src/program/x.ts', `import { z } from 'zod';`],
    ['packages/shell/src/x.ts', `import { Role } from '@iop/wire';`],
    ['apps/edge/src/core/x.ts', `import { create } from '@iop/wire';`],
    ['apps/edge/src/core/x.ts', `import type {\n  Log,\n} from '@iop/shell';`],
    ['apps/edge/src/core/runs/x.ts', `import { serveHttp } from '../../inbound/openai/server.ts';`],
    ['apps/edge/src/ports/x.ts', `export type { Database } from 'node:sqlite';`],
    ['apps/edge/src/inbound/openai/x.ts', `import { a } from '../node-link/a.ts';`],
    ['apps/edge/src/inbound/http/x.ts', `import { a } from '../openai/a.ts';`],
    ['apps/cli/src/commands/x.ts', `import { a } from '@iop/link/tcp';`],
    ['apps/node/src/outbound/adapters/x.ts', `const lazy = await import('../run-store-sqlite/store.ts');`],
    ['apps/node/src/commands/x.ts', `import { a } from '../../../edge/src/core/door.ts';`],
    ['apps/node/src/main.ts', `import { a } from './outbound/run-store-sqlite/store.ts';`],
    ['e2e/x.test.ts', `import { a } from '../apps/edge/src/core/door.ts';`],
    ['packages/link/src/x.test.ts', `import { a } from './y.test.ts';`],
    ['somewhere/else.ts', `import 'node:fs';`],
    [
      'apps/edge/src/inbound/openai/x.ts',
      `new Worker(new URL('../../outbound/store/w.ts', import.meta.url));`,
    ],
  ];
  for (const [path, text] of planted) assert.equal(violationsOf(path, text).length, 1, `${path}: ${text}`);
});

test('what the table allows is left in peace', () => {
  const allowed: readonly [string, string][] = [
    ['apps/edge/src/core/x.ts', `import { IopError } from '@iop/domain';`],
    ['apps/edge/src/core/x.ts', `import type { Store } from '../ports/store.ts';`],
    ['apps/edge/src/inbound/openai/x.ts', `import fastify from 'fastify';`],
    ['apps/node/src/outbound/adapters/vllm/x.ts', `import { a } from '../sse.ts';`],
    ['packages/link/src/tcp/x.ts', `import { connect } from 'node:net';`],
    ['packages/link/src/x.test.ts', `import { pair } from './testing/memory.ts';`],
    ['apps/edge/src/commands/serve.ts', `import { a } from '../inbound/openai/a.ts';`],
  ];
  for (const [path, text] of allowed) assert.deepEqual(violationsOf(path, text), [], `${path}: ${text}`);
});

test('every row of the table has files and a reason', () => {
  for (const row of importTable) assert.ok(row.why.length > 20, row.place);
  const used = new Set(sources.map(({ path }) => rowOf(path)?.why));
  const idle = importTable.filter((row) => !used.has(row.why)).map((row) => row.place);
  assert.deepEqual(idle, []);
});

test('ARCHITECTURE.md shows the table that is tested', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  assert.equal(page, withTable(page), 'run `npm run gen`');
});

test('no file holds what its place forbids', () => {
  const findings = sources.filter(({ path }) => !path.startsWith('tools/')).flatMap(findForbiddenWords);
  assert.equal(findings.map(({ file, line, text }) => `${file}:${line} ${text}`).join('\n'), '');
});

test('planted words are found, and only where they are forbidden', () => {
  const find = (path: string, text: string): number => findForbiddenWords({ path, text }).length;
  assert.equal(find('apps/edge/src/core/x.ts', 'const at = Date.now();'), 1);
  assert.equal(find('packages/link/src/x.ts', 'return Math.random();'), 1);
  assert.equal(find('packages/link/src/tcp/x.ts', 'return Math.random();'), 0);
  assert.equal(find('apps/edge/src/core/x.ts', '  // never Date.now() here'), 0);
  assert.equal(find('e2e/x.test.ts', 'test.only("x", () => {});'), 1);
  assert.ok(wordTable.every((row) => row.why !== ''));
});

test('no forbidden dependency is in the tree', () => {
  const manifests = [
    'package.json',
    ...globSync('{packages,apps}/*/package.json', { cwd: root }),
    'e2e/package.json',
    'bench/package.json',
    'tools/package.json',
  ];
  const named = manifests.flatMap((path) =>
    dependenciesOfManifest(readFileSync(join(root, path), 'utf8'), path),
  );
  const locked = dependenciesOfLockfile(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  assert.ok(
    manifests.length > 10 && locked.length > 50,
    `${manifests.length} manifests, ${locked.length} packages`,
  );
  assert.deepEqual(findForbidden([...named, ...locked]), []);
});

test('planted dependencies are found in manifests and in the lockfile', () => {
  const manifest = JSON.stringify({ dependencies: { ws: '8.0.0' }, devDependencies: { sinon: '1.0.0' } });
  assert.equal(findForbidden(dependenciesOfManifest(manifest, 'x')).length, 2);
  const lockfile = JSON.stringify({
    packages: {
      '': {},
      'node_modules/a/node_modules/@grpc/grpc-js': {},
      'node_modules/zod': {},
      'apps/edge': {},
    },
  });
  assert.deepEqual(findForbidden(dependenciesOfLockfile(lockfile)), [
    'package-lock.json: @grpc/grpc-js: no gRPC: the wire is our own framed protobuf over TCP',
  ]);
  for (const name of [
    'xstate',
    'piscina',
    '@kubernetes/client-node',
    'tapable',
    'nact',
    'inversify',
    'better-sqlite3',
  ]) {
    assert.equal(findForbidden([{ name, from: 'x' }]).length, 1, name);
  }
  assert.ok(forbiddenDependencies.every((row) => row.why.length > 5));
});
