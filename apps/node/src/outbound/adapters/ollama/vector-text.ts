import { toBase64Vector } from '../http-upstream/embedding-body.ts';

export interface Vector {
  /** What stands for it in the answer: its numbers as Ollama wrote them, or a base64 string. */
  bytes: Uint8Array;
  dimensions: number;
}

/** @param numbers what stands between the brackets of a JSON array; undefined: it is none of numbers */
export function encodeVector(numbers: Uint8Array, format: 'float' | 'base64'): Vector | undefined {
  const text = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.length).toString('latin1');
  if (format === 'float') {
    if (!/^[-+.,eE\d\s]+$/.test(text)) return undefined;
    return { bytes: Buffer.from(`[${text}]`, 'latin1'), dimensions: countNumbers(numbers) };
  }
  const values = parseNumbers(text);
  if (values === undefined) return undefined;
  return { bytes: Buffer.from(`"${toBase64Vector(values)}"`, 'latin1'), dimensions: values.length };
}

function countNumbers(numbers: Uint8Array): number {
  let count = 1;
  for (let at = numbers.indexOf(comma); at !== -1; at = numbers.indexOf(comma, at + 1)) count++;
  return count;
}

const comma = 0x2c;

function parseNumbers(text: string): number[] | undefined {
  try {
    const values: unknown[] = JSON.parse(`[${text}]`);
    return values.every((value) => typeof value === 'number') ? values : undefined;
  } catch {
    return undefined;
  }
}
