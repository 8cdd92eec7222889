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

/** What a model is, as long as its content is the same. */
export interface ModelTraits {
  /** "completion", "tools" …; undefined: an older server, which does not say. */
  skills: ReadonlySet<string> | undefined;
  /** Tokens that the model was trained for: it is never loaded with more. */
  trainedContext: number | undefined;
}

/** `/api/show`: `{capabilities:[…],model_info:{"general.architecture":A,"A.context_length":N}}`. */
export function parseShow(json: unknown): ModelTraits {
  const { capabilities, model_info: info } = isFields(json) ? json : {};
  const skills = Array.isArray(capabilities)
    ? new Set(capabilities.filter((skill) => typeof skill === 'string'))
    : undefined;
  const length = isFields(info) ? info[`${info['general.architecture']}.context_length`] : undefined;
  return { skills, trainedContext: isCount(length) ? length : undefined };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
