import { existsSync, readFileSync } from 'node:fs';
import type { Effect } from '../history/history.ts';
import type { Stage } from '../stage.ts';

/** Everything that a model began to do. */
export function readEffects({ places, sayFile }: Stage): Effect[] {
  const asked = places.flatMap(({ weather }) => weather.effects());
  const said = existsSync(sayFile) ? readFileSync(sayFile, 'utf8').split('\n').filter(Boolean) : [];
  return [
    ...asked,
    ...said.map((marker) => ({
      marker,
      model: 'say',
      node: '',
      atMs: 0,
      closedAtMs: undefined,
      pieces: 0,
      plan: 'done',
    })),
  ];
}
