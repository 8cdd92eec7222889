import { IopError, isRunId } from '@iop/domain';

/** @throws IopError `usage` for anything but a run id */
export function runIdOf(text: string | undefined): string {
  if (text !== undefined && isRunId(text)) return text;
  throw new IopError({
    kind: 'invalid',
    code: 'usage',
    message: `${text ?? 'nothing'} is no run id; \`iop runs\` lists them`,
  });
}
