import type { Capabilities, FactName, TargetInfo } from '@iop/runtime';
import { askUpstream, type Reply } from '../http-upstream/ask-upstream.ts';
import { CapabilityProbe, missingDetail, type ProbeFinding } from '../http-upstream/capability-probe.ts';
import { FactBook } from '../http-upstream/fact-book.ts';
import { parseUpstreamError } from '../http-upstream/upstream-error.ts';
import type { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { type ModelCard, type ModelTraits, parseLoaded, parseTags } from './model-cards.ts';
import { declaredFacts } from './model-facts.ts';
import { TraitBook } from './trait-book.ts';

export interface ShelfInit {
  pool: UpstreamPool;
  where: string;
  /** Before `/api`. */
  prefix: string;
  headers: readonly string[];
  /** 0: what Ollama has been told. */
  numCtx: number;
  /** Named in the configuration. */
  configuredTargets: readonly string[];
}

const loadedTimeoutMs = 3000;

/**
 * What an Ollama has, and what its models can do. O10: it asks `/api/version`, `/api/tags`, `/api/ps`
 * and, once for each content of a model, `/api/show`; none of them loads anything.
 */
export class ModelShelf {
  readonly #init: ShelfInit;
  readonly #probe: CapabilityProbe;
  readonly #traits: TraitBook;
  readonly #facts = new FactBook();
  #cards: readonly ModelCard[] = [];
  #loaded: ReadonlyMap<string, number> = new Map();

  constructor(init: ShelfInit) {
    this.#init = init;
    this.#traits = new TraitBook((model, signal) => this.#show(model, signal));
    this.#probe = new CapabilityProbe({ where: init.where, ask: (signal) => this.#ask(signal) });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#probe.capabilities(signal);
  }

  /** Tokens of prompt and answer for `target`; undefined: nobody has said. */
  contextLength(target: string): number | undefined {
    const { numCtx } = this.#init;
    const room = numCtx > 0 ? numCtx : this.#loaded.get(withTag(target));
    const trained = this.#traitsOf(target)?.trainedContext;
    return room === undefined || trained === undefined ? room : Math.min(room, trained);
  }

  /** A run showed what `target` can do, or cannot. */
  saw(target: string, fact: FactName, holds: boolean): void {
    this.#facts.measured(withTag(target), fact, holds);
  }

  /** `target` is loaded now: finds out with which context, if that is not known. Never rejects. */
  async lookAtLoaded(target: string): Promise<void> {
    if (this.contextLength(target) !== undefined) return;
    try {
      await this.#askLoaded(AbortSignal.timeout(loadedTimeoutMs));
    } catch {
      // The answer goes on without it.
    }
  }

  /** Undefined: not known. */
  canThink(target: string): boolean | undefined {
    return this.#traitsOf(target)?.skills?.has('thinking');
  }

  async #ask(signal: AbortSignal): Promise<ProbeFinding> {
    const version = await this.#get('/api/version', signal);
    if (version.status !== 200) return this.#refused('GET /api/version', version);
    const tags = await this.#get('/api/tags', signal);
    const cards = tags.status === 200 ? parseTags(tags.json) : undefined;
    if (cards === undefined) return this.#refused('GET /api/tags', tags);
    await this.#askLoaded(signal);
    this.#cards = cards;
    this.#facts.keep(new Set(cards.map(({ name }) => withTag(name))));
    await this.#traits.learn(cards, signal);
    const useful = cards.filter((card) => this.#isUseful(card));
    const declared = useful.map((card) => this.#toTarget(card));
    const targets = this.#facts.complete(declared, withTag);
    return { kind: 'healthy', targets, detail: this.#missing(targets) };
  }

  async #askLoaded(signal: AbortSignal): Promise<void> {
    const { status, json } = await this.#get('/api/ps', signal);
    // Older servers have no list of what is loaded.
    this.#loaded = status === 200 ? parseLoaded(json) : new Map();
  }

  #get(path: string, signal: AbortSignal): Promise<Reply> {
    const { pool, prefix, headers } = this.#init;
    return askUpstream(pool, { method: 'GET', path: prefix + path, headers }, signal);
  }

  #show(model: string, signal: AbortSignal): Promise<Reply> {
    const { pool, prefix, headers } = this.#init;
    const path = `${prefix}/api/show`;
    return askUpstream(pool, { method: 'POST', path, headers, body: { model } }, signal);
  }

  #traitsOf(target: string): ModelTraits | undefined {
    const card = this.#cards.find(({ name }) => withTag(name) === withTag(target));
    return card && this.#traits.of(card.digest);
  }

  /** What makes images or sound is nothing that any dialect of this adapter can ask for. */
  #isUseful({ digest }: ModelCard): boolean {
    const skills = this.#traits.of(digest)?.skills;
    return skills === undefined || skills.has('completion') || skills.has('embedding');
  }

  #toTarget({ name, digest }: ModelCard): TargetInfo {
    const contextLength = this.contextLength(name);
    const facts = declaredFacts(this.#traits.of(digest)?.skills);
    return { name, facts, ...(contextLength !== undefined && { contextLength }) };
  }

  #missing(targets: readonly TargetInfo[]): string {
    return missingDetail(this.#init.configuredTargets.map(withTag), targets);
  }

  #refused(asked: string, { status, json }: Reply): ProbeFinding {
    const said = parseUpstreamError(json)?.message;
    const detail = `${this.#init.where} answered ${status} to ${asked}${said === undefined ? '' : `: ${said}`}; is it an Ollama?`;
    return { kind: 'unhealthy', detail };
  }
}

/** Ollama reads a name without a tag as `:latest`. */
function withTag(name: string): string {
  return name.lastIndexOf(':') > name.lastIndexOf('/') ? name : `${name}:latest`;
}
