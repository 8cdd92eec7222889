import { IopError } from '@iop/domain';
import type { Place } from './source.ts';

/** One thing that is wrong with a configuration. */
export interface Problem {
  place: Place;
  /** `http.port`; empty: the whole. */
  path: string;
  text: string;
}

/** One error for all problems, so that they can be mended in one go. */
export function configError(problems: readonly Problem[], cause?: unknown): IopError {
  const [first] = problems;
  const lines = problems.map(({ place, path, text }) =>
    [place.text, path, text].filter((part) => part !== '').join(': '),
  );
  return new IopError({
    kind: 'invalid',
    code: 'config.invalid',
    message:
      lines.length === 1
        ? lines.join('')
        : `the configuration has ${lines.length} problems\n  ${lines.join('\n  ')}`,
    details: {
      ...(first?.place.file === undefined ? {} : { file: first.place.file }),
      ...(first?.place.line === undefined ? {} : { line: first.place.line }),
      ...(first === undefined || first.path === '' ? {} : { path: first.path }),
    },
    cause,
  });
}

/** `adapters[0].base_url` */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
