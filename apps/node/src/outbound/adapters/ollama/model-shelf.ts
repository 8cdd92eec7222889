import type { Capabilities, TargetInfo } from '@iop/runtime';
import { askUpstream, type Reply } from '../http-upstream/ask-upstream.ts';
import { CapabilityProbe, missingDetail, type ProbeFinding } from '../http-upstream/capability-probe.ts';
import { parseUpstreamError } from '../http-upstream/upstream-error.ts';
import type { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { type ModelCard, parseLoaded, parseSkills, parseTags } from './model-cards.ts';

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

type Skills = ReadonlySet<string>;

const loadedTimeoutMs = 3000;

/**
 * What an Ollama has, and what its models can do. O10: it asks `/api/version`, `/api/tags`, `/api/ps`
 * and, once for each content of a model, `/api/show`; none of them loads anything.
 */
export class ModelShelf {
  readonly #init: ShelfInit;
  readonly #probe: CapabilityProbe;
  /** By digest: a model that is pulled anew is asked about again. */
  #skills = new Map<string, Skills>();
  #cards: readonly ModelCard[] = [];
  #loaded: ReadonlyMap<string, number> = new Map();

  constructor(init: ShelfInit) {
    this.#init = init;
    this.#probe = new CapabilityProbe({ where: init.where, ask: (signal) => this.#ask(signal) });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#probe.capabilities(signal);
  }

  /** Tokens of prompt and answer for `target`; undefined: nobody has said. */
  contextLength(target: string): number | undefined {
    const { numCtx } = this.#init;
    return numCtx > 0 ? numCtx : this.#loaded.get(withTag(target));
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

  /** False only if the model is known not to. */
  canThink(target: string): boolean {
    const card = this.#cards.find(({ name }) => name === withTag(target));
    const skills = card && this.#skills.get(card.digest);
    return skills === undefined || skills.has('thinking');
  }

  async #ask(signal: AbortSignal): Promise<ProbeFinding> {
    const version = await this.#get('/api/version', signal);
    if (version.status !== 200) return this.#refused('GET /api/version', version);
    const tags = await this.#get('/api/tags', signal);
    const cards = tags.status === 200 ? parseTags(tags.json) : undefined;
    if (cards === undefined) return this.#refused('GET /api/tags', tags);
    await this.#askLoaded(signal);
    this.#cards = cards;
    await this.#learnSkills(cards, signal);
    const targets = cards.filter((card) => this.#canChat(card)).map((card) => this.#toTarget(card));
    return { kind: 'healthy', targets, detail: this.#missing(targets) };
  }

  async #askLoaded(signal: AbortSignal): Promise<void> {
    const { status, json } = await this.#get('/api/ps', signal);
    // Older servers have no list of what is loaded.
    this.#loaded = status === 200 ? parseLoaded(json) : new Map();
  }

  async #learnSkills(cards: readonly ModelCard[], signal: AbortSignal): Promise<void> {
    const skills = new Map<string, Skills>();
    // What is known is kept even if there is no time for the rest.
    for (const { digest } of cards) {
      const known = this.#skills.get(digest);
      if (known !== undefined) skills.set(digest, known);
    }
    this.#skills = skills;
    for (const { name, digest } of cards) {
      const found = skills.get(digest) ?? (await this.#show(name, signal));
      if (found === 'no-time') return;
      if (found !== 'silent') skills.set(digest, found);
    }
  }

  /** `no-time`: the list of models is what counts; the rest is asked next time. */
  async #show(model: string, signal: AbortSignal): Promise<Skills | 'silent' | 'no-time'> {
    const { pool, prefix, headers } = this.#init;
    const path = `${prefix}/api/show`;
    const question = { method: 'POST', path, headers: [...headers], body: { model } } as const;
    try {
      const { status, json } = await askUpstream(pool, question, signal);
      return (status === 200 ? parseSkills(json) : undefined) ?? 'silent';
    } catch {
      return 'no-time';
    }
  }

  #get(path: string, signal: AbortSignal): Promise<Reply> {
    const { pool, prefix, headers } = this.#init;
    return askUpstream(pool, { method: 'GET', path: prefix + path, headers: [...headers] }, signal);
  }

  #canChat({ digest }: ModelCard): boolean {
    const skills = this.#skills.get(digest);
    return skills === undefined || skills.has('completion');
  }

  #toTarget({ name }: ModelCard): TargetInfo {
    const contextLength = this.contextLength(name);
    return contextLength === undefined ? { name } : { name, contextLength };
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
