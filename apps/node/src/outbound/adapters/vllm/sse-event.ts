export interface SseEvent {
  /** Of its `event:` line; empty if there is none. */
  name: string;
  /** Its `data:` lines, joined; undefined if there is none. */
  data: string | undefined;
}

/** One event as text, by the book; what is no field at all counts as data, so that garbage is seen. */
export function parseSseEvent(bytes: Uint8Array): SseEvent {
  const event: SseEvent = { name: '', data: undefined };
  for (const line of new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)) {
    if (line !== '' && !line.startsWith(':')) takeLine(event, line);
  }
  return event;
}

function takeLine(event: SseEvent, line: string): void {
  const [field = '', value = ''] = splitAtColon(line);
  if (field === 'event') event.name = value;
  else if (field === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`;
  else if (field !== 'id' && field !== 'retry') event.data = `${event.data ?? ''}${line}`;
}

function splitAtColon(line: string): string[] {
  const colon = line.indexOf(':');
  return colon === -1 ? [line] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
