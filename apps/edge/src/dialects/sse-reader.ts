export interface SseEvent {
  /** Of its `event:` line; empty if there is none. */
  name: string;
  /** Its `data:` lines, joined. */
  data: string;
}

/** Longest event that is put together here, in characters. */
export const eventLimit = 4 * 1024 * 1024;

/** Server-sent events from bytes that may be cut anywhere. Looks at every byte once. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #line = '';
  #name = '';
  #data: string[] = [];
  #size = 0;
  /** The last character was a CR, which a LF may belong to. */
  #hadReturn = false;

  /** Bytes of an event are here whose end is not. */
  get isHolding(): boolean {
    return this.#line !== '' || this.#data.length > 0;
  }

  /** An event grew beyond the limit. */
  get isTooLarge(): boolean {
    return this.#size > eventLimit;
  }

  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return events;
    const isRest = this.#hadReturn && text.startsWith('\n');
    this.#hadReturn = text.endsWith('\r');
    if (isRest) text = text.slice(1);
    const lines = text.split(/\r\n|\r|\n/);
    const last = lines.length - 1;
    for (let index = 0; index <= last; index++) {
      const line = lines[index] as string;
      this.#line += line;
      this.#size += line.length;
      if (index < last) this.#endLine(events);
    }
    return events;
  }

  #endLine(events: SseEvent[]): void {
    const line = this.#line;
    this.#line = '';
    if (line === '') this.#endEvent(events);
    else if (!line.startsWith(':')) this.#field(line);
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
  }

  #endEvent(events: SseEvent[]): void {
    if (this.#data.length > 0) events.push({ name: this.#name, data: this.#data.join('\n') });
    this.#name = '';
    this.#data = [];
    this.#size = 0;
  }
}
