/**
 * The content frames of a measured stream: an OpenAI chunk whose text is `~index~stampUs~heldUs~`, all of
 * fixed width. `stampUs` is the mock's monotonic clock when it wrote the frame; `heldUs` is how long it held
 * the request before the first frame, so that its timer does not count as time to first token.
 */
const head =
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[{"index":0,"delta":{"content":"';
const foot = '"},"logprobs":null,"finish_reason":null}]}\n\n';
const widths = { index: 6, stamp: 15, held: 9 };
const tilde = 0x7e;

export interface Frame {
  index: number;
  stampUs: number;
  heldUs: number;
}

export function encodeFrame(frame: Frame): string {
  const { index, stampUs, heldUs } = frame;
  return `${head}~${pad(index, widths.index)}~${pad(stampUs, widths.stamp)}~${pad(heldUs, widths.held)}~${foot}`;
}

export const frameSizeBytes = encodeFrame({ index: 0, stampUs: 0, heldUs: 0 }).length;

function pad(value: number, width: number): string {
  return Math.round(value).toString().padStart(width, '0');
}

/** Reads the stream of one answer and checks that its content frames come whole, once each and in order. */
export class FrameReader {
  /** Content frames so far. */
  count = 0;
  /** `[DONE]` was seen. */
  done = false;
  /** First thing that was wrong. */
  problem: string | undefined;
  readonly #onFrame: (stampUs: number, heldUs: number) => void;
  #tail: Buffer | undefined;

  constructor(onFrame: (stampUs: number, heldUs: number) => void) {
    this.#onFrame = onFrame;
  }

  /** @param bytes valid only during the call */
  push(bytes: Buffer): void {
    const input = this.#tail === undefined ? bytes : Buffer.concat([this.#tail, bytes]);
    let from = 0;
    for (let end = eventEnd(input, from); end >= 0; end = eventEnd(input, from)) {
      this.#readEvent(input, from, end);
      from = end + 2;
    }
    this.#tail = from === input.length ? undefined : Buffer.from(input.subarray(from));
  }

  #readEvent(input: Buffer, from: number, end: number): void {
    const mark = input.indexOf(tilde, from);
    if (mark >= 0 && mark < end) {
      this.#readFrame(input, mark);
      return;
    }
    const text = input.toString('latin1', from, end);
    if (text === 'data: [DONE]') this.done = true;
    else if (text.includes('"error"')) this.problem ??= `error event: ${text.slice(0, 200)}`;
  }

  #readFrame(input: Buffer, mark: number): void {
    let at = mark + 1;
    const index = digits(input, at, widths.index);
    at += widths.index + 1;
    const stampUs = digits(input, at, widths.stamp);
    at += widths.stamp + 1;
    if (index !== this.count) this.problem ??= `frame ${index} came where ${this.count} was due`;
    this.count++;
    this.#onFrame(stampUs, digits(input, at, widths.held));
  }
}

/** Index of the blank line that ends the event, or -1. Most reads hold exactly one event, so look there first. */
function eventEnd(input: Buffer, from: number): number {
  const guess = from + frameSizeBytes - 2;
  if (input[guess] === 0x0a && input[guess + 1] === 0x0a && input[from + head.length] === tilde) return guess;
  return input.indexOf('\n\n', from, 'latin1');
}

function digits(input: Buffer, from: number, width: number): number {
  let value = 0;
  for (let at = from; at < from + width; at++) value = value * 10 + ((input[at] ?? 0x30) - 0x30);
  return value;
}
