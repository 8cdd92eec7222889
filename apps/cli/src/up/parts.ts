import { setTimeout as sleep } from 'node:timers/promises';
import { IopError } from '@iop/domain';
import { type Part, type PartEnd, type PartOptions, startPart } from './part.ts';

/** After SIGTERM a part has this long; together with the rest, all is over within 10 s. */
const graceMs = 8_700;

/**
 * The parts of one `iop up`.
 *
 * U1: while anything is waited for, the end of a part ends the wait; the first that ended gives the
 *     exit code.
 * U2: when this is disposed of, no part runs any more.
 */
export class Parts {
  readonly #parts: Part[] = [];
  readonly #firstEnd: Promise<never>;
  #report: (reason: IopError) => void = () => {};
  #stopping = false;

  constructor() {
    this.#firstEnd = new Promise((_resolve, reject) => {
      this.#report = reject;
    });
    // It may end while nobody waits.
    this.#firstEnd.catch(() => {});
  }

  start(options: PartOptions): void {
    const part = startPart(options);
    this.#parts.push(part);
    void part.ended.then((end) => {
      if (!this.#stopping) this.#report(partError(part, end));
    });
  }

  /** `work`, or the death of a part, whichever is first (U1). */
  guard<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#firstEnd]);
  }

  /** Ends all of them. @throws IopError when one did not end well */
  async stop(): Promise<void> {
    this.#stopping = true;
    const ends = await Promise.all(this.#parts.map(stopPart));
    const bad = ends.find((end) => end.exitCode !== 0);
    if (bad === undefined) return;
    throw new IopError({
      kind: 'internal',
      code: 'up.bad-stop',
      message: `iop-${bad.name} did not end well (exit code ${bad.exitCode})`,
      details: { exitCode: bad.exitCode },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#parts.map(stopPart));
  }
}

async function stopPart(part: Part): Promise<PartEnd> {
  part.terminate();
  const patience = new AbortController();
  const tooLong = sleep(graceMs, undefined, { signal: patience.signal }).then(
    () => part.kill(),
    () => {},
  );
  const end = await part.ended;
  patience.abort();
  await tooLong;
  return end;
}

function partError(part: Part, { exitCode }: PartEnd): IopError {
  const last = part.lastLines(5).map((line) => `  ${line}`);
  return new IopError({
    kind: 'unavailable',
    code: 'up.part-ended',
    message: `iop-${part.name} ended by itself (exit code ${exitCode}); its log is ${part.logFile}${last.length === 0 ? '' : `, its last lines:\n${last.join('\n')}`}`,
    details: { part: part.name, exitCode: exitCode === 0 ? 70 : exitCode },
  });
}
