import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The description that OpenAI publishes; it is large and not ours, so it lies beside the repository, if at all. */
function findDescription(): string | undefined {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'shared', 'data', 'openai-openapi.json');
    if (existsSync(file)) return file;
  }
  return undefined;
}

const file = findDescription();
/** Why the schemas cannot be asked; false: they can. */
export const skip = file === undefined ? 'shared/data/openai-openapi.json is not here' : false;

/** Asserts that a value is what OpenAI's description says of a schema. */
export type AssertMatches = (name: string, value: unknown) => void;

export function compile(): AssertMatches {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(JSON.parse(readFileSync(file ?? '', 'utf8'), withNull), 'openai');
  const compiled = new Map<string, ValidateFunction>();
  return (name, value) => {
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `openai#/components/schemas/${name}` });
    compiled.set(name, validate);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
  };
}

/** The description says in places what OpenAPI 3.0 said, which JSON Schema 2020 does not know. */
function withNull(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
  const { nullable, ...rest } = value;
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}
