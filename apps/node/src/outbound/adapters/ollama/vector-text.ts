import { toBase64Vector } from '../http-upstream/embedding-body.ts';

export interface Vector {
  /** What stands for it in the answer: its numbers as Ollama wrote them, or a base64 string. */
  bytes: Uint8Array;
  dimensions: number;
}

/** @param numbers what stands between the brackets of a JSON array; undefined: it is none of numbers */
export function encodeVector(numbers: Uint8Array, format: 'float' | 'base64'): Vector | undefined {
  if (format === 'float') return copyNumbers(numbers);
  const values = parseNumbers(numbers);
  if (values === undefined) return undefined;
  return { bytes: Buffer.from(`"${toBase64Vector(values)}"`, 'latin1'), dimensions: values.length };
}

/** Byte by byte: strings of so much text would be garbage to collect. */
function copyNumbers(numbers: Uint8Array): Vector | undefined {
  const bytes = Buffer.allocUnsafe(numbers.length + 2);
  let dimensions = 1;
  for (let at = 0; at < numbers.length; at++) {
    const byte = numbers[at] as number;
    if (ofNumbers[byte] === 0) return undefined;
    if (byte === comma) dimensions++;
  }
  bytes[0] = bracketOpen;
  bytes.set(numbers, 1);
  bytes[numbers.length + 1] = bracketClose;
  return { bytes, dimensions };
}

const comma = 0x2c;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;
/** 1 for each byte that may stand in an array of numbers. */
const ofNumbers = new Uint8Array(256);
for (const byte of Buffer.from('0123456789-+.eE, \t\r\n')) ofNumbers[byte] = 1;

function parseNumbers(numbers: Uint8Array): number[] | undefined {
  const text = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.length).toString('latin1');
  try {
    const values: unknown[] = JSON.parse(`[${text}]`);
    return values.every((value) => typeof value === 'number') ? values : undefined;
  } catch {
    return undefined;
  }
}
