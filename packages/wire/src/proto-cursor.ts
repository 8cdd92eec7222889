import { readAscii } from './ascii-memo.ts';

const nothing = new Uint8Array(0);

/** A place in the bytes. After something unexpected it is `broken`, and what it gives is meaningless. */
export class ProtoCursor {
  readonly bytes: Uint8Array;
  at: number;
  end: number;
  broken = false;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Steps over the tag if it is the next byte. */
  tagged(tag: number): boolean {
    if (this.broken || this.at >= this.end || this.bytes[this.at] !== tag) return false;
    this.at++;
    return true;
  }

  /** The field with this tag if it is next, else its default; so for the three below. */
  uintField(tag: number): number {
    return this.tagged(tag) ? this.varint() : 0;
  }

  boolField(tag: number): boolean {
    return this.tagged(tag) && this.varint() !== 0;
  }

  textField(tag: number): string {
    return this.tagged(tag) ? this.ascii() : '';
  }

  bytesField(tag: number): Uint8Array {
    return this.tagged(tag) ? this.view() : nothing;
  }

  /** Of 32 bits; a longer one is broken here. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35 && this.at < this.end; shift += 7) {
      const byte = this.bytes[this.at++] as number;
      if (shift === 28 && byte > 0x0f) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    this.broken = true;
    return 0;
  }

  /** Reads a length and gives where what it announces ends. */
  length(): number {
    const size = this.varint();
    const end = this.at + size;
    if (end > this.end) this.broken = true;
    return this.broken ? -1 : end;
  }

  ascii(): string {
    const end = this.length();
    const text = this.broken ? undefined : readAscii(this.bytes, this.at, end);
    if (text === undefined) this.broken = true;
    this.at = end;
    return text ?? '';
  }

  view(): Uint8Array {
    const end = this.length();
    if (this.broken) return nothing;
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }
}
