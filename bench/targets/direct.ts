import type { Target, TargetContext } from './target.ts';

/** Nothing between: what all others are compared with. */
export function startDirect(context: TargetContext): Promise<Target> {
  return Promise.resolve({
    name: 'direct',
    place: { port: context.mockPort, path: '/v1/chat/completions', headers: {}, pids: [] },
    parts: [],
    stop: () => Promise.resolve(),
  });
}
