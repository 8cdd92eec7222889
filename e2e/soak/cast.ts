import { seededRandom } from '../harness/random.ts';
import { askAndLeave, askAttached } from './callers/attached.ts';
import { type Caller, keepAsking, makeCaller } from './callers/caller.ts';
import { askDetachedChat } from './callers/detached-chat.ts';
import { operate } from './callers/operator.ts';
import { askRepeatedly } from './callers/repeater.ts';
import { askInBackground } from './callers/responses.ts';
import type { Diary } from './diary.ts';
import type { Stage } from './stage.ts';
import { hashOf } from './upstream-weather.ts';

const cast: readonly { name: string; count: number; play(caller: Caller): Promise<void> }[] = [
  { name: 'attached', count: 3, play: askAttached },
  { name: 'leaver', count: 2, play: askAndLeave },
  { name: 'detached', count: 2, play: askDetachedChat },
  { name: 'background', count: 2, play: askInBackground },
  { name: 'repeater', count: 2, play: askRepeatedly },
  { name: 'operator', count: 2, play: operate },
];

/** All of them ask until the signal; resolves when each has what it was waiting for. */
export async function playCast(
  stage: Stage,
  { seed, diary, signal }: { seed: number; diary: Diary; signal: AbortSignal },
): Promise<void> {
  const playing = cast.flatMap(({ name, count, play }) =>
    Array.from({ length: count }, (_nothing, index) => {
      const random = seededRandom(hashOf(`${seed} ${name}${index}`));
      return keepAsking(makeCaller(`${name}${index}`, { stage, diary, random, seed }), play, signal);
    }),
  );
  await Promise.all(playing);
}
