import { maxPieceBytes } from './answer.ts';

export interface EmbeddingList {
  /** The name that the caller asked for. */
  model: string;
  /** What stands for each vector in the body, in order: the JSON of an array, or of a base64 string. */
  vectors: readonly Uint8Array[];
  promptTokens: number;
  /** The count is ours, not the upstream's. */
  estimated: boolean;
}

/** `vector` as little-endian float32 in base64: what `encoding_format: "base64"` asks for. */
export function toBase64Vector(vector: ArrayLike<number>): string {
  const floats = new Float32Array(vector);
  const bytes = Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
  return (isBigEndian ? bytes.swap32() : bytes).toString('base64');
}

/** The reverse of `toBase64Vector`; undefined for what is no such text. */
export function toFloatVector(base64: string): number[] | undefined {
  // Some encoders escape slashes.
  const text = base64.replaceAll('\\/', '/').replace(/=+$/, '');
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64: then fewer bytes come out than the text promises.
  if (bytes.length !== Math.floor((text.length * 3) / 4) || bytes.length % 4 !== 0) return undefined;
  const vector: number[] = [];
  for (let at = 0; at < bytes.length; at += 4) vector.push(bytes.readFloatLE(at));
  return vector;
}

/** OpenAI's list of embeddings, in pieces that fit a frame: the JSON of 2,048 vectors has 25 MB. */
export function* encodeEmbeddingList(list: EmbeddingList): Generator<Uint8Array> {
  const packer = new PiecePacker();
  yield* packer.add(Buffer.from('{"object":"list","data":['));
  for (const [index, vector] of list.vectors.entries()) {
    yield* packer.add(
      Buffer.from(`${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":`),
    );
    yield* packer.add(vector);
    yield* packer.add(closingBrace);
  }
  const { model, promptTokens, estimated } = list;
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens, ...(estimated && { estimated }) };
  yield* packer.add(Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`));
  yield packer.rest();
}

const isBigEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0;
const closingBrace = Buffer.from('}');

class PiecePacker {
  #piece = Buffer.allocUnsafe(maxPieceBytes);
  #sizeBytes = 0;

  *add(bytes: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + maxPieceBytes - this.#sizeBytes);
      this.#piece.set(part, this.#sizeBytes);
      this.#sizeBytes += part.length;
      at += part.length;
      if (this.#sizeBytes === maxPieceBytes) yield this.rest();
    }
  }

  /** May be empty. */
  rest(): Uint8Array {
    const piece = this.#piece.subarray(0, this.#sizeBytes);
    this.#piece = Buffer.allocUnsafe(maxPieceBytes);
    this.#sizeBytes = 0;
    return piece;
  }
}
