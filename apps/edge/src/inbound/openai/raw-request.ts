import type { RawRequest } from '@iop/runtime';
import { checkModel } from '../http/field-checks.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, toRefusal } from '../http/problem.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { isMultipart, readFormFields } from './multipart-form.ts';
import type { RequestOutcome } from './run-shape.ts';

export interface RawAsked {
  raw: RawRequest;
  /** Its URL has a query, for which a raw request has no place. */
  hasQuery: boolean;
}

/** Of a request that only its upstream understands: whom it is for, and whether the answer is a stream. */
export function parseRawRequest(bytes: Uint8Array, asked: RawAsked): RequestOutcome {
  if (bytes.length === 0) return refused(noModel(asked.raw.path));
  return isMultipart(asked.raw.contentType) ? parseForm(bytes, asked) : parseJson(bytes, asked);
}

function parseJson(bytes: Uint8Array, asked: RawAsked): RequestOutcome {
  const body = parseJsonBody(bytes);
  return body.kind === 'refused' ? body : toOutcome(body.fields, asked, body.fields.stream === true);
}

function parseForm(bytes: Uint8Array, asked: RawAsked): RequestOutcome {
  const form = readFormFields(bytes, asked.raw.contentType, ['model', 'stream']);
  if (form.kind === 'malformed') {
    const message = `The request body is not valid multipart/form-data: ${form.reason}.`;
    return refused(invalidRequest(message, 'invalid_multipart'));
  }
  const fields = Object.fromEntries(form.values);
  return toOutcome(fields, asked, /^(true|1)$/i.test(fields.stream ?? ''));
}

function toOutcome({ model }: Fields, { raw, hasQuery }: RawAsked, stream: boolean): RequestOutcome {
  if (model === undefined || model === null) return refused(noModel(raw.path));
  const problem = checkModel(model);
  if (problem !== undefined) return refused(toRefusal(problem));
  if (hasQuery) return refused(noQuery(raw.path));
  return { kind: 'request', request: { model: String(model), stream, includeUsage: false, raw } };
}

function refused(refusal: Refusal): RequestOutcome {
  return { kind: 'refused', refusal };
}

function noQuery(path: string): Refusal {
  const message = `POST /v1/${path} is passed on to an upstream without a query; send its values in the body.`;
  return invalidRequest(message, 'unsupported_query');
}

/** Nobody can tell whom it is for: as unknown here as any other path. */
function noModel(path: string): Refusal {
  const message = `There is no POST /v1/${path} here, and without a \`model\` it cannot be passed on to an upstream.`;
  return { status: 404, message, type: 'invalid_request_error', code: 'unknown_url', param: 'model' };
}
