import type { KeyPolicy } from '../ports/key-store.ts';
import { compilePatterns } from './key-patterns.ts';

/**
 * What a key's limits are now and what its runs hold of them. Lives as long as the Edge, through all changes
 * of the policy, so that what is counted stays right (E16).
 */
export class KeyGate {
  readonly id: string;
  /** Runs that hold a place. */
  running = 0;
  #policy: KeyPolicy | undefined;
  #allows: (name: string) => boolean = () => true;
  /** Runs that may come at this very moment. */
  #tokens = 0;
  #countedAtMs = 0;
  readonly #verdicts = new Map<string, boolean>();
  #verdictsFor = -1;

  /** @param nowMs monotonic */
  constructor(id: string, policy: KeyPolicy | undefined, nowMs: number) {
    this.id = id;
    this.adopt(policy, nowMs);
  }

  get policy(): KeyPolicy | undefined {
    return this.#policy;
  }

  /** Changed limits count from now on; a new rate begins with a full bucket. */
  adopt(policy: KeyPolicy | undefined, nowMs: number): void {
    const before = this.#policy?.rate;
    this.#policy = policy;
    this.#allows = compilePatterns(policy?.targets ?? []);
    this.#verdicts.clear();
    const rate = policy?.rate;
    if (rate === undefined) return;
    const isSame = before !== undefined && before.runs === rate.runs && before.perMs === rate.perMs;
    this.#tokens = isSame ? Math.min(this.#tokens, rate.burst) : rate.burst;
    if (!isSame) this.#countedAtMs = nowMs;
  }

  get isRestricted(): boolean {
    return (this.#policy?.targets.length ?? 0) > 0;
  }

  allowsName(name: string): boolean {
    return this.#allows(name);
  }

  /** Remembers verdicts while `version` is the same; names come from callers, so not without end. */
  remember(asked: string, version: number, judge: () => boolean): boolean {
    if (this.#verdictsFor !== version) this.#verdicts.clear();
    this.#verdictsFor = version;
    let verdict = this.#verdicts.get(asked);
    if (verdict === undefined) {
      verdict = judge();
      if (this.#verdicts.size < mostVerdicts) this.#verdicts.set(asked, verdict);
    }
    return verdict;
  }

  /** One run more may hold a place. */
  hasRoom(): boolean {
    const limit = this.#policy?.concurrency ?? 0;
    return limit === 0 || this.running < limit;
  }

  /** Takes one run out of the rate; else how long until there is one, and nothing is taken. */
  spend(nowMs: number): number {
    const rate = this.#policy?.rate;
    if (rate === undefined) return 0;
    const gained = ((nowMs - this.#countedAtMs) * rate.runs) / rate.perMs;
    this.#tokens = Math.min(rate.burst, this.#tokens + gained);
    this.#countedAtMs = nowMs;
    if (this.#tokens < 1 - tiny) return Math.ceil(((1 - this.#tokens) * rate.perMs) / rate.runs);
    this.#tokens = Math.max(0, this.#tokens - 1);
    return 0;
  }
}

const mostVerdicts = 1000;
/** What adding up fractions may miss. */
const tiny = 1e-9;
