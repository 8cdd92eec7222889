import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEnd } from '@iop/domain';
import type { Ask } from '../history/ask.ts';
import type { History } from '../history/history.ts';
import type { RunStory } from '../history/run-story.ts';
import { checkHistory } from './check-history.ts';
import { goodHistory } from './good-history.fixture.ts';

export const failed = (code: string): RunEnd => ({
  kind: 'failed',
  failure: { kind: 'unavailable', code, message: code, details: {}, retryable: true },
});

/** A history that can be written to. */
export type Open<T> = T extends (infer E)[] | readonly (infer E)[]
  ? Open<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Open<T[K]> }
    : T;

export interface Planted {
  history: Open<History>;
  /** Detached; its first ask is a chat of two connections, its second a watcher. */
  run: Open<RunStory>;
  ask: Open<Ask>;
  watcher: Open<Ask>;
}

export function open(): Planted {
  const history = goodHistory() as Open<History>;
  const [run] = history.runs;
  const [ask, watcher] = history.asks;
  assert.ok(run && ask && watcher);
  return { history, run, ask, watcher };
}

/** Another end, in record and log alike. */
export function endAs(run: Open<RunStory>, end: RunEnd): void {
  Object.assign(run.record, { end, state: end.kind });
  Object.assign(run.log.events.at(-1) ?? {}, { end });
  Object.assign(run.log, { content: '' });
}

/** What is done to a good history, and the rule that must find it. */
export type Plantings = Readonly<Record<string, readonly [rule: string, plant: (planted: Planted) => void]>>;

export function testPlantings(plantings: Plantings): void {
  for (const [what, [rule, plant]] of Object.entries(plantings)) {
    test(`${what} is found`, () => {
      const things = open();
      plant(things);
      const rules = checkHistory(things.history as History).map((violation) => violation.rule);
      assert.ok(rules.includes(rule), `expected "${rule}" among ${JSON.stringify(rules)}`);
    });
  }
}
