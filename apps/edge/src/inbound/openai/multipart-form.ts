/** What was looked for in a `multipart/form-data` body. */
export type FormFields =
  | { kind: 'fields'; values: ReadonlyMap<string, string> }
  | { kind: 'malformed'; reason: string };

const maxParts = 1000;
const maxHeadBytes = 8 * 1024;
/** A field that we read is a name or a word. */
const maxValueBytes = 1024;

export function isMultipart(contentType: string): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType);
}

/** Reads the fields of these names, the last of each counts; files and all other parts are passed over. */
export function readFormFields(body: Uint8Array, contentType: string, names: readonly string[]): FormFields {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return malformed('its Content-Type names no boundary');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  const values = new Map<string, string>();
  let at = startOf(bytes, delimiter);
  for (let parts = 0; parts <= maxParts; parts++) {
    if (at === -1) return malformed('its last boundary is missing');
    if (bytes.toString('latin1', at, at + 2) === '--') return { kind: 'fields', values };
    const part = readPart(bytes, at, delimiter);
    if (part === undefined) return malformed(`part ${parts + 1} has no head or no end`);
    if (names.includes(part.name) && part.end - part.start <= maxValueBytes) {
      values.set(part.name, bytes.toString('utf8', part.start, part.end));
    }
    at = part.end + 2 + delimiter.length;
  }
  return malformed(`it has more than ${maxParts} parts`);
}

interface Part {
  name: string;
  start: number;
  end: number;
}

/** @param at behind a delimiter */
function readPart(bytes: Buffer, at: number, delimiter: string): Part | undefined {
  const headStart = bytes.indexOf('\r\n', at) + 2;
  const headEnd = bytes.indexOf('\r\n\r\n', headStart - 2);
  if (headStart < 2 || headEnd === -1 || headEnd - headStart > maxHeadBytes) return undefined;
  const start = headEnd + 4;
  const end = bytes.indexOf(`\r\n${delimiter}`, start);
  if (end === -1) return undefined;
  const head = bytes.toString('utf8', headStart, headEnd);
  return { name: nameIn(head), start, end };
}

/** Parameters are read one behind the other, so that none is found in the text of another. */
function nameIn(head: string): string {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1] ?? '';
  const parameters = disposition.matchAll(/;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g);
  for (const [, key, quoted, plain] of parameters) {
    if (key?.toLowerCase() === 'name') return quoted ?? plain ?? '';
  }
  return '';
}

/** Behind the first delimiter, which begins a line. */
function startOf(bytes: Buffer, delimiter: string): number {
  if (bytes.toString('latin1', 0, delimiter.length) === delimiter) return delimiter.length;
  const at = bytes.indexOf(`\r\n${delimiter}`);
  return at === -1 ? -1 : at + 2 + delimiter.length;
}

function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

function malformed(reason: string): FormFields {
  return { kind: 'malformed', reason };
}
