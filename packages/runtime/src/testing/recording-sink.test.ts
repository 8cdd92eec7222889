import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecordingSink } from './recording-sink.ts';

const event = (text: string) =>
  ({ kind: 'raw', dialect: 'openai.chat', bytes: new TextEncoder().encode(text), more: false }) as const;

describe('recording sink', () => {
  it('has room until its window is used and calls once when it has room again', () => {
    const sink = createRecordingSink(4);
    assert.equal(sink.emit(event('abc')), true);
    assert.equal(sink.emit(event('d')), false);
    let calls = 0;
    sink.whenDrained(() => calls++);
    assert.equal(calls, 0);
    sink.grant(2);
    sink.grant(2);
    assert.equal(calls, 1);
    assert.equal(sink.text(), 'abcd');
  });

  it('calls at once when there is room now', () => {
    let calls = 0;
    createRecordingSink(1).whenDrained(() => calls++);
    assert.equal(calls, 1);
  });

  it('keeps what comes too late apart', () => {
    const sink = createRecordingSink();
    sink.close();
    sink.emit(event('x'));
    assert.equal(sink.events.length, 0);
    assert.equal(sink.late.length, 1);
  });

  it('rejects when what is waited for does not come', async () => {
    await assert.rejects(
      createRecordingSink().until((sink) => sink.events.length > 0, 10),
      /not reached/,
    );
  });
});
