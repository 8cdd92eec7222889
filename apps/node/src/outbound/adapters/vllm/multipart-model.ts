/** A form whose `model` is ours now; all its other bytes are as they came. */
export type SplicedForm = { kind: 'spliced'; body: Uint8Array } | { kind: 'invalid'; message: string };

interface Part {
  /** Of `Content-Disposition`; undefined: it has none. */
  name: string | undefined;
  start: number;
  end: number;
}

/**
 * Sets the field `model` of a multipart/form-data body (RFC 7578). A field that is written twice is set
 * twice, and one that is missing is put first, because servers differ in which one they read.
 */
export function spliceForm(body: Uint8Array, contentType: string, model: string): SplicedForm {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return invalid('its content type names no boundary');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const parts = readParts(bytes, boundary);
  if (typeof parts === 'string') return invalid(parts);
  const models = parts.filter((part) => part.name === 'model');
  if (models.length === 0) return { kind: 'spliced', body: putFirst(bytes, boundary, model) };
  const value = Buffer.from(model);
  if (models.every(({ start, end }) => bytes.subarray(start, end).equals(value))) {
    return { kind: 'spliced', body };
  }
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { start, end } of models) {
    pieces.push(bytes.subarray(at, start), value);
    at = end;
  }
  return { kind: 'spliced', body: Buffer.concat([...pieces, bytes.subarray(at)]) };
}

/** The boundary parameter (RFC 2046 §5.1.1), quoted or not. */
export function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  return boundary !== undefined && /^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary) ? boundary : undefined;
}

function readParts(bytes: Buffer, boundary: string): Part[] | string {
  const opening = `--${boundary}`;
  if (!startsWith(bytes, 0, opening)) return 'it does not begin with its boundary';
  const delimiter = Buffer.from(`\r\n${opening}`);
  const parts: Part[] = [];
  let at = opening.length;
  while (!startsWith(bytes, at, '--')) {
    if (!startsWith(bytes, at, '\r\n')) return 'a boundary is not on a line of its own';
    const headersEnd = bytes.indexOf('\r\n\r\n', at);
    const end = bytes.indexOf(delimiter, at + 2);
    if (headersEnd === -1 || end === -1 || headersEnd + 4 > end) return 'it ends within a part';
    const name = fieldName(bytes.toString('utf8', at + 2, headersEnd));
    if (name.kind === 'unclear') return 'a part does not say clearly which field it is';
    parts.push({ name: name.name, start: headersEnd + 4, end });
    at = end + delimiter.length;
  }
  return parts;
}

type FieldName = { kind: 'name'; name: string | undefined } | { kind: 'unclear' };

/** What two readers could read in two ways is refused: it could name another model than we saw. */
function fieldName(headers: string): FieldName {
  if (/\r\n[ \t]/.test(headers)) return { kind: 'unclear' };
  const lines = headers.split('\r\n').filter((line) => /^content-disposition\s*:/i.test(line));
  if (lines.length === 0) return { kind: 'name', name: undefined };
  const names = [...(lines[0] ?? '').matchAll(/;\s*name(\*)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi)];
  const [found] = names;
  if (lines.length > 1 || names.length !== 1 || found?.[1] !== undefined) return { kind: 'unclear' };
  return { kind: 'name', name: found?.[2]?.replaceAll(/\\(.)/g, '$1') ?? found?.[3] };
}

function putFirst(bytes: Buffer, boundary: string, model: string): Uint8Array {
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`;
  return Buffer.concat([Buffer.from(part), bytes]);
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  return bytes.subarray(at, at + text.length).equals(Buffer.from(text));
}

function invalid(what: string): SplicedForm {
  return { kind: 'invalid', message: `the form cannot be read: ${what}` };
}
