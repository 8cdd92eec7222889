const maxWords = 256;

/**
 * A vector of length 1 that is the same at every repetition. Texts that share words lie near each
 * other, so that a search over them finds something.
 */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words.slice(0, maxWords)) addWord(vector, word);
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square);
  return length === 0 ? vector.fill(1 / Math.sqrt(dimensions)) : vector.map((value) => value / length);
}

function addWord(vector: Float32Array, word: string): void {
  let state = hashOf(word) || 1;
  for (let at = 0; at < vector.length; at++) {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    vector[at] = (vector[at] as number) + state / 0x80000000;
  }
}

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash;
}
