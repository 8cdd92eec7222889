/** What the model of one run is to say; every run says something that no other does. */
export interface Script {
  /** Stands in the request, in every word of the answer and in what the upstream saw. */
  marker: string;
  model: ModelName;
  prompt: string;
  /** The whole answer. */
  text: string;
  /** Undefined: the model does not say. */
  usage: TokenCount | undefined;
}

export interface TokenCount {
  prompt: number;
  completion: number;
}

/** `m`: real HTTP servers behind vllm adapters; `echo`: the mock of each Node; `say`: a program of each Node. */
export const modelNames = ['m', 'echo', 'say'] as const;
export type ModelName = (typeof modelNames)[number];

/** What a request to `m` tells the upstream to do when nothing disturbs it. */
export interface UpstreamOrder {
  marker: string;
  words: number;
  paceMs: number;
}

/** The upstream of `m` says the same of every answer. */
export const upstreamUsage: TokenCount = { prompt: 7, completion: 3 };

export function writeScript(marker: string, model: ModelName, random: () => number): Script {
  const words = 5 + Math.floor(random() * 60);
  const paceMs = 5 + Math.floor(random() * 25);
  if (model === 'say') return sayScript(marker, Math.ceil(words / 4));
  const text = wordsOf(marker, words).join('');
  if (model === 'm') {
    const order: UpstreamOrder = { marker, words, paceMs };
    return { marker, model, prompt: `<soak>${JSON.stringify(order)}</soak>`, text, usage: upstreamUsage };
  }
  const usage = { prompt: 1_000 + text.length, completion: words };
  const mock = {
    text,
    pace_ms: paceMs,
    usage: { prompt_tokens: usage.prompt, completion_tokens: usage.completion },
  };
  return { marker, model, prompt: `<mock>${JSON.stringify(mock)}</mock>`, text, usage };
}

/** Its program writes the first line down elsewhere and puts out the others. */
function sayScript(marker: string, lines: number): Script {
  const text = wordsOf(marker, lines)
    .map((word) => `${word.trim()}\n`)
    .join('');
  return { marker, model: 'say', prompt: `${marker}\n${text}`, text, usage: undefined };
}

export function wordsOf(marker: string, count: number): string[] {
  return Array.from({ length: count }, (_nothing, index) => `${marker}.${index} `);
}

export function readOrder(requestText: string): UpstreamOrder | undefined {
  const found = /<soak>(.*?)<\/soak>/.exec(requestText)?.[1];
  return found === undefined ? undefined : (JSON.parse(found.replaceAll('\\"', '"')) as UpstreamOrder);
}

/** The marker in any text that holds one. */
export function markerIn(text: string): string | undefined {
  return /\bsk\d+-[a-z]+\d*-\d+\b/.exec(text)?.[0];
}
