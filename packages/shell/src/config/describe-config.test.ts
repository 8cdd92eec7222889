import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { defineConfig } from './declaration.ts';
import { describeConfig, renderConfigDocs } from './describe-config.ts';
import { durationMs, section, sizeBytes } from './pieces.ts';

const name = z.string().describe('What it is called.');
const declaration = defineConfig({
  program: 'iop-edge',
  envPrefix: 'IOP_EDGE_',
  schema: z.strictObject({
    name,
    http: section({ body_limit: sizeBytes.default(2 ** 25).describe('Longest request body.') }),
    limits: section({ wait: durationMs.default(90_000) }),
    adapters: z.array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('mock'), name }),
        z.strictObject({ kind: z.literal('vllm'), name, base_url: z.string() }),
      ]),
    ),
    tags: z.array(z.string()).default([]),
    level: z.enum(['debug', 'info']).default('info'),
  }),
});

test('every key is described from its declaration', () => {
  const rows = describeConfig(declaration);
  assert.deepEqual(
    rows.map((row) => [row.path, row.type, row.required, row.default, row.env, row.when]),
    [
      ['name', 'text', true, undefined, 'IOP_EDGE_NAME', undefined],
      ['http.body_limit', 'size', false, '32MiB', 'IOP_EDGE_HTTP_BODY_LIMIT', undefined],
      ['limits.wait', 'duration', false, '90s', 'IOP_EDGE_LIMITS_WAIT', undefined],
      ['adapters[].kind', '`mock`, `vllm`', true, undefined, undefined, undefined],
      ['adapters[].name', 'text', true, undefined, undefined, undefined],
      ['adapters[].base_url', 'text', true, undefined, undefined, 'kind: vllm'],
      ['tags', 'list of text', false, '[]', 'IOP_EDGE_TAGS', undefined],
      ['level', '`debug`, `info`', false, 'info', 'IOP_EDGE_LEVEL', undefined],
    ],
  );
  assert.equal(rows[1]?.summary, 'Longest request body.');
});

test('the page holds a row for every key', () => {
  const page = renderConfigDocs(declaration);
  assert.ok(
    page.includes(
      '| `http.body_limit` | size | `32MiB` | `IOP_EDGE_HTTP_BODY_LIMIT` | Longest request body. |',
    ),
  );
  assert.ok(page.includes('Only with `kind: vllm`.'));
});

test('a key of a part that may be left out is not required', () => {
  const tls = z.strictObject({ cert: z.string() }).optional();
  const schema = z.strictObject({ http: section({ tls, host: z.string() }) });
  const rows = describeConfig(defineConfig({ program: 'iop-edge', envPrefix: 'X_', schema }));
  assert.deepEqual(
    rows.map((row) => [row.path, row.required]),
    [
      ['http.tls.cert', false],
      ['http.host', true],
    ],
  );
});
