import type { CliProfile } from '@iop/cli-profile';
import type { RunFailure, Usage } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import { LineCutter } from '../line-cutter.ts';
import { type ChildOutput, type OutputStep, textEvents } from './child-output.ts';
import { cliFailure } from './exit-verdict.ts';
import { matches, valueAt } from './json-path.ts';

/** One JSON object a line; the text stands at a path of those that match. */
export class JsonlOutput implements ChildOutput {
  readonly #profile: CliProfile;
  readonly #cutter: LineCutter;
  /** Of the chunk that is being read. */
  #lines: Uint8Array[] = [];
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #hasText = false;
  #isAnswered = false;
  usage: Usage | undefined;

  constructor(profile: CliProfile) {
    this.#profile = profile;
    const take = (bytes: Uint8Array, start: number, end: number) =>
      this.#lines.push(bytes.subarray(start, end));
    this.#cutter = new LineCutter(take, profile.max_line);
  }

  push(chunk: Uint8Array): OutputStep {
    const isInBounds = this.#cutter.push(chunk);
    const lines = this.#lines;
    this.#lines = [];
    if (isInBounds) return this.#read(lines);
    const { program, max_line } = this.#profile;
    const message = `${program} put out a line of more than ${max_line} bytes`;
    return { events: [], verdict: { failure: cliFailure('unavailable', 'cli.line-too-long', message) } };
  }

  finish(): OutputStep {
    const step = this.#read([this.#cutter.rest()]);
    if (step.verdict !== 'more' || this.#isAnswered || this.#profile.end === undefined) return step;
    const message = `${this.#profile.program} ended without the line that ends its answer`;
    return { ...step, verdict: { failure: cliFailure('unavailable', 'cli.no-end', message) } };
  }

  #read(lines: readonly Uint8Array[]): OutputStep {
    const events: RuntimeEvent[] = [];
    for (const line of lines) {
      if (this.#isAnswered) break;
      const value = this.#parse(line);
      if (value === undefined) continue;
      if ('failure' in value) return { events, verdict: { failure: value.failure } };
      const failure = this.#reported(value.object);
      if (failure !== undefined) return { events, verdict: { failure } };
      events.push(...this.#texts(value.object));
      this.#count(value.object);
      this.#isAnswered = this.#profile.end !== undefined && matches(value.object, this.#profile.end);
    }
    return { events, verdict: this.#isAnswered ? 'answered' : 'more' };
  }

  #parse(line: Uint8Array): { object: object } | { failure: RunFailure } | undefined {
    try {
      const text = this.#decoder.decode(line).trim();
      if (text === '') return undefined;
      const object: unknown = JSON.parse(text);
      if (typeof object === 'object' && object !== null) return { object };
    } catch {
      // told below
    }
    if (this.#profile.other_lines === 'skip') return undefined;
    const said = JSON.stringify(Buffer.from(line).toString('utf8'));
    const message = `${this.#profile.program} put out a line that is not a JSON object: ${said}`;
    return { failure: cliFailure('unavailable', 'cli.output-invalid', message) };
  }

  #reported(object: object): RunFailure | undefined {
    const { fail, message: path, program } = this.#profile;
    if (fail === undefined || !matches(object, fail)) return undefined;
    const said = path === undefined ? undefined : valueAt(object, path);
    const words = typeof said === 'string' ? said : JSON.stringify(said ?? object);
    return cliFailure('unavailable', 'cli.reported', `${program} reports: ${words}`);
  }

  #count(object: object): void {
    const { usage } = this.#profile;
    if (usage === undefined || !matches(object, usage.where)) return;
    const promptTokens = valueAt(object, usage.prompt);
    const completionTokens = valueAt(object, usage.completion);
    if (isCount(promptTokens) && isCount(completionTokens))
      this.usage = { promptTokens, completionTokens, estimated: false };
  }

  #texts(object: object): RuntimeEvent[] {
    const { where, field, separator } = this.#profile;
    const text = field !== undefined && matches(object, where) ? valueAt(object, field) : undefined;
    if (typeof text !== 'string' || text === '') return [];
    const lead = this.#hasText ? separator : '';
    this.#hasText = true;
    return textEvents(lead + text);
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
