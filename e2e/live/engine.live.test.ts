/**
 * A real engine with a small real model, judged by the official `openai` client: first by itself,
 * then through Edge and Node, with the same expectations. llama.cpp unless IOP_LIVE_ENGINE says
 * otherwise (engine-files.ts).
 *
 * Rows are skipped by name when no engine can be had; the reason says what is missing.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { byteRows } from './byte-rows.ts';
import { chatRows } from './chat-rows.ts';
import { findEngineFiles } from './engine-files.ts';
import { errorRows } from './error-rows.ts';
import { outliveEngine } from './life.ts';
import { messageRows } from './message-rows.ts';
import { openPlace, type Place, type PlaceKind, type PlaceOptions, type Row } from './place.ts';
import { shapeRows } from './shape-rows.ts';
import { stopRows } from './stop-rows.ts';

const files = await findEngineFiles();
const skip = files.kind === 'missing' ? `no engine: ${files.reason}` : false;
const all = [...chatRows, ...shapeRows, ...byteRows, ...errorRows, ...stopRows, ...messageRows];

/** Forced one way, chats must still be what the client asked for. */
const suites: readonly Suite[] = [
  { title: 'the engine by itself', kind: 'direct', rows: all, options: {} },
  { title: 'the engine through Edge and Node', kind: 'iop', rows: all, options: {} },
  { title: 'always asked for a stream', kind: 'iop', rows: chatRows, options: { forceStream: true } },
  { title: 'never asked for a stream', kind: 'iop', rows: chatRows, options: { forceStream: false } },
];

interface Suite {
  title: string;
  kind: PlaceKind;
  rows: readonly Row[];
  options: PlaceOptions;
}

for (const { title, kind, rows, options } of suites) {
  describe(title, () => {
    let place: Place | undefined;
    before(async () => {
      if (files.kind !== 'missing') place = await openPlace(kind, files, options);
    });
    after(() => place?.close());
    for (const row of rows.filter(({ only }) => only === undefined || only === kind)) {
      test(row.name, { skip, timeout: 180_000 }, async (context) => {
        assert.ok(place);
        await row.run(place, context);
      });
    }
  });
}

describe('the life of an engine behind a Node', () => {
  const name = 'a Node starts before its engine, finds it, loses it in mid-answer and finds it again';
  const foreign = files.kind === 'running' ? 'the engine was started by somebody else' : skip;
  test(name, { skip: foreign, timeout: 300_000 }, async (context) => {
    assert.equal(files.kind, 'ready');
    await outliveEngine(files, (line) => context.diagnostic(line));
  });
});
