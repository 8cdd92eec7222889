import { isFields } from './problem-list.ts';

/** A model that an Ollama has on its disk. */
export interface ModelCard {
  name: string;
  /** Of its content; its name where a server gives none. */
  digest: string;
}

/** `/api/tags`: `{models:[{name,model,digest,…}]}`; undefined for anything else. */
export function parseTags(json: unknown): ModelCard[] | undefined {
  const models = isFields(json) ? json.models : undefined;
  // Go writes an empty list as null.
  if (models === null) return [];
  if (!Array.isArray(models)) return undefined;
  return models.flatMap((model: unknown) => {
    const name = isFields(model) ? (model.model ?? model.name) : undefined;
    if (!isFields(model) || typeof name !== 'string' || name === '') return [];
    const digest = typeof model.digest === 'string' && model.digest !== '' ? model.digest : name;
    return [{ name, digest }];
  });
}

/** `/api/ps`: the context with which each model is loaded, by name. */
export function parseLoaded(json: unknown): Map<string, number> {
  const found = new Map<string, number>();
  const models = isFields(json) ? json.models : undefined;
  if (!Array.isArray(models)) return found;
  for (const model of models) {
    if (!isFields(model)) continue;
    const name = model.model ?? model.name;
    const length = model.context_length;
    if (typeof name === 'string' && isCount(length)) found.set(name, length);
  }
  return found;
}

/** `/api/show`: `{capabilities:["completion","tools",…]}`; undefined: an older server, which does not say. */
export function parseSkills(json: unknown): ReadonlySet<string> | undefined {
  const skills = isFields(json) ? json.capabilities : undefined;
  if (!Array.isArray(skills)) return undefined;
  return new Set(skills.filter((skill) => typeof skill === 'string'));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
