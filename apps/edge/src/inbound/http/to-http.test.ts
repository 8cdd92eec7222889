import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CancelCause, cancelCauses, type ErrorKind, errorKinds, type RunFailure } from '@iop/domain';
import { encodeError, refusalHeaders } from './refusal.ts';
import { endToRefusal, startToRefusal, unknownModel } from './to-http.ts';

const fresh = { hadContent: false };

function failed(failure: Partial<RunFailure>, progress = fresh) {
  const whole: RunFailure = {
    kind: 'unavailable',
    code: 'upstream.refused',
    message: 'The upstream refused.',
    details: {},
    retryable: true,
    ...failure,
  };
  return endToRefusal({ kind: 'failed', failure: whole }, progress);
}

function upstream(status: number, body: string, retryAfterMs?: number) {
  return failed({
    upstream: { status, body: Buffer.from(body), ...(retryAfterMs !== undefined && { retryAfterMs }) },
  });
}

const kinds: Readonly<Record<ErrorKind, readonly [status: number, type: string]>> = {
  invalid: [400, 'invalid_request_error'],
  unauthenticated: [502, 'server_error'],
  forbidden: [403, 'permission_error'],
  'not-found': [404, 'invalid_request_error'],
  conflict: [409, 'invalid_request_error'],
  exhausted: [429, 'rate_limit_error'],
  unavailable: [503, 'server_error'],
  timeout: [504, 'timeout_error'],
  cancelled: [409, 'server_error'],
  unsupported: [400, 'invalid_request_error'],
  internal: [500, 'server_error'],
};

for (const kind of errorKinds) {
  const [status, type] = kinds[kind];
  test(`a run that failed as ${kind} answers ${status} ${type} with the code of the failure`, () => {
    const refusal = failed({ kind, code: 'some.code' });
    assert.deepEqual([refusal.status, refusal.type, refusal.code], [status, type, 'some.code']);
    assert.equal(refusal.message, 'The upstream refused.');
  });
}

const causes: Readonly<Record<CancelCause, number>> = {
  caller: 499,
  operator: 409,
  deadline: 504,
  drain: 503,
  shutdown: 503,
  superseded: 409,
};

for (const by of cancelCauses) {
  test(`a run cancelled by ${by} answers ${causes[by]} and says so`, () => {
    const refusal = endToRefusal({ kind: 'cancelled', by }, fresh);
    assert.deepEqual([refusal.status, refusal.code], [causes[by], `run.cancelled-by-${by}`]);
  });
}

test('clients may repeat what did no work, and must not repeat what did', () => {
  assert.equal(failed({}).shouldRetry, undefined);
  assert.equal(failed({}).retryAfterMs, 1000);
  assert.equal(failed({ retryable: false }).shouldRetry, false);
  assert.equal(failed({ retryable: false }).retryAfterMs, undefined);
  assert.equal(failed({}, { hadContent: true }).shouldRetry, false);
  assert.equal(failed({ kind: 'internal' }).shouldRetry, false);
  assert.equal(endToRefusal({ kind: 'cancelled', by: 'shutdown' }, fresh).shouldRetry, undefined);
  assert.equal(endToRefusal({ kind: 'cancelled', by: 'shutdown' }, { hadContent: true }).shouldRetry, false);
  assert.equal(endToRefusal({ kind: 'cancelled', by: 'operator' }, fresh).shouldRetry, false);
  // no client repeats a 400
  assert.equal(failed({ kind: 'invalid', retryable: false }).shouldRetry, undefined);
});

const statuses: readonly (readonly [upstream: number, answered: number, type: string])[] = [
  [400, 400, 'invalid_request_error'],
  [404, 404, 'invalid_request_error'],
  [408, 504, 'timeout_error'],
  [413, 413, 'invalid_request_error'],
  [422, 422, 'invalid_request_error'],
  [429, 429, 'rate_limit_error'],
  [500, 500, 'server_error'],
  [503, 503, 'server_error'],
  [504, 504, 'timeout_error'],
  [302, 502, 'server_error'],
  [418, 502, 'server_error'],
  [507, 502, 'server_error'],
];

for (const [status, answered, type] of statuses) {
  test(`an upstream that answers ${status} is answered ${answered} ${type}`, () => {
    const refusal = upstream(status, '');
    assert.deepEqual([refusal.status, refusal.type, refusal.code], [answered, type, 'upstream.refused']);
  });
}

test('the error of the upstream is passed on, in both of its shapes', () => {
  const nested = upstream(
    400,
    '{"error":{"message":"too long","type":"BadRequestError","param":"messages","code":400}}',
  );
  assert.deepEqual(JSON.parse(encodeError(nested)), {
    error: { message: 'too long', type: 'BadRequestError', param: 'messages', code: 'upstream.refused' },
  });
  const flat = upstream(
    400,
    '{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":40303}',
  );
  assert.deepEqual(JSON.parse(encodeError(flat)), {
    error: { message: 'too long', type: 'BadRequestError', param: null, code: '40303' },
  });
  const coded = upstream(400, '{"error":{"message":"m","code":"context_length_exceeded"}}');
  assert.equal(coded.code, 'context_length_exceeded');
});

test('an upstream that answers anything else is quoted, in bounds', () => {
  assert.equal(upstream(500, '{"error":"no slots"}').message, 'no slots');
  assert.equal(upstream(422, '{"detail":[{"msg":"x"}]}').message, '[{"msg":"x"}]');
  assert.equal(upstream(503, 'busy\n').message, 'The upstream answered 503: busy');
  assert.equal(upstream(503, '  ').message, 'The upstream refused.');
  assert.ok(upstream(500, 'x'.repeat(100_000)).message.length < 5000);
  assert.equal(upstream(500, '{"error":{}}').message, 'The upstream refused.');
});

test('what an upstream says to credentials is not for the caller', () => {
  for (const status of [401, 403, 407]) {
    const refusal = upstream(status, '{"error":{"message":"Incorrect API key provided: sk-abc"}}');
    assert.equal(refusal.status, 502);
    assert.doesNotMatch(encodeError(refusal), /sk-abc/);
  }
});

test('the time that an upstream asks for is passed on, in seconds and in milliseconds', () => {
  const refusal = upstream(429, '{"error":{"message":"slow down"}}', 1500);
  assert.deepEqual(refusalHeaders(refusal), ['retry-after', '2', 'retry-after-ms', '1500']);
});

test('a request that could not start is refused by its reason', () => {
  const unknown = startToRefusal({ kind: 'unknown-target', asked: 'qwem', nearest: ['qwen', 'qwen-big'] });
  assert.deepEqual([unknown.status, unknown.code, unknown.param], [404, 'model_not_found', 'model']);
  assert.match(unknown.message, /`qwem` does not exist here; did you mean `qwen`, `qwen-big`\?/);
  assert.match(unknownModel('x', []).message, /GET \/v1\/models/);

  const away = startToRefusal({ kind: 'no-node', asked: 'q', detail: 'gpu-1 is away', retryAfterMs: 5000 });
  assert.deepEqual(
    [away.status, away.code, away.retryAfterMs, away.shouldRetry],
    [503, 'node.none', 5000, undefined],
  );

  const full = startToRefusal({ kind: 'queue-full', asked: 'q', limit: 256, retryAfterMs: 300 });
  assert.deepEqual([full.status, full.code, full.retryAfterMs], [429, 'rate_limit_exceeded', 300]);

  const keyId = 'aaaaaaaa';
  const rate = startToRefusal({ kind: 'key-rate', keyId, limit: '60 runs a minute', retryAfterMs: 900 });
  assert.deepEqual([rate.status, rate.code, rate.retryAfterMs], [429, 'rate_limit_exceeded', 900]);
  assert.match(rate.message, /\(aaaaaaaa\) may start 60 runs a minute/);
  const busy = startToRefusal({ kind: 'key-busy', keyId, limit: 4, retryAfterMs: 1000 });
  assert.deepEqual([busy.status, busy.code, busy.retryAfterMs], [429, 'rate_limit_exceeded', 1000]);
  const forbidden = startToRefusal({ kind: 'forbidden-target', keyId, asked: 'q' });
  assert.deepEqual([forbidden.status, forbidden.code, forbidden.param], [403, 'model_not_allowed', 'model']);

  const dialect = startToRefusal({ kind: 'unsupported-dialect', asked: 'q', dialect: 'openai.chat' });
  assert.deepEqual([dialect.status, dialect.param], [400, 'model']);

  const stopping = startToRefusal({ kind: 'stopping' });
  assert.deepEqual([stopping.status, stopping.close], [503, true]);
});

test('a failure of the Edge that knows when to ask again says so', () => {
  const refusal = failed({ kind: 'exhausted', code: 'queue.timeout', details: { retryAfterMs: 7000 } });
  assert.deepEqual([refusal.status, refusal.retryAfterMs], [429, 7000]);
});

test('a name of any length is quoted in bounds', () => {
  assert.ok(unknownModel('x'.repeat(1_000_000), []).message.length < 400);
});
