import type { RunEnd } from '@iop/domain';

/** How a run ended, in a few words for a table. */
export function endWords(end: RunEnd | undefined): string {
  switch (end?.kind) {
    case undefined:
      return '';
    case 'completed':
      return end.finish === 'stop' ? '' : end.finish;
    case 'cancelled':
      return `by ${end.by}`;
    case 'failed':
      return `${end.failure.code}: ${end.failure.message}`;
  }
}
