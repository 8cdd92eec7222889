import type { Target, TargetContext } from './target.ts';

export interface IopOptions {
  tls: boolean;
  profileDir: string | undefined;
}

export function startIop(_context: TargetContext, _options: IopOptions): Promise<Target> {
  return Promise.reject(new Error('IOP cannot be started yet; leave it out by --targets'));
}
