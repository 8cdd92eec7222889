/** Where and why a text is not JSON. Only asked when `JSON.parse` has already thrown. */
export interface JsonError {
  reason: string;
  /** Characters from 0. */
  position: number;
  line: number;
  column: number;
}

/** Walking costs about a microsecond per 50 characters; beyond this a hostile text would be worth it. */
const walkLimit = 4 * 1024 * 1024;

/** @param message of the `SyntaxError` that `JSON.parse(text)` has thrown */
export function locateJsonError(text: string, message: string): JsonError {
  const positioned = /^(.*?) (?:in JSON )?at position (\d+)/s.exec(message);
  if (positioned !== null) return at(text, Number(positioned[2]), withoutQuote(positioned[1] ?? ''));
  if (message.startsWith('Unexpected end')) return at(text, text.length, 'the text ends too early');
  if (text.length > walkLimit) return at(text, 0, withoutQuote(message));
  const position = findUnexpected(text);
  return at(text, position, `unexpected ${JSON.stringify(text.charAt(position))}`);
}

/** The engine quotes a part of the text, which is the caller's content and belongs in no log. */
function withoutQuote(message: string): string {
  const reason = message.replace(/, (\.\.\.)?".*$/s, '').replace(/ after JSON$/, ' after the end');
  return reason.charAt(0).toLowerCase() + reason.slice(1);
}

function at(text: string, position: number, reason: string): JsonError {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  return { reason, position, line, column: position - before.lastIndexOf('\n') };
}

interface Walk {
  readonly text: string;
  position: number;
  /** Brackets that are open: in an array a comma is followed by a value, in an object by a name. */
  readonly open: string[];
  /** The last character that was no space. */
  previous: string;
}

/**
 * The engine gives no position where it met something else than the value it wanted. Everything
 * before that place is well-formed, so walking over it needs no care for anything but strings.
 */
function findUnexpected(text: string): number {
  const walk: Walk = { text, position: 0, open: [], previous: '' };
  while (walk.position < text.length) {
    const character = text.charAt(walk.position);
    if (' \t\r\n'.includes(character)) walk.position += 1;
    else if (character === '"') passString(walk);
    else if ('{}[],:'.includes(character) ? !passPunctuation(walk, character) : !passScalar(walk)) break;
  }
  return walk.position;
}

function passPunctuation(walk: Walk, character: string): boolean {
  const opens = character === '{' || character === '[';
  const closesEmpty = character === ']' && walk.previous === '[';
  if (wantsValue(walk) && !opens && !closesEmpty) return false;
  if (opens) walk.open.push(character);
  if (character === '}' || character === ']') walk.open.pop();
  walk.previous = character;
  walk.position += 1;
  return true;
}

function wantsValue({ previous, open }: Walk): boolean {
  if (previous === ',') return open.at(-1) === '[';
  return previous === '' || previous === '[' || previous === ':';
}

/** A number or a word; stops at the character where a word goes wrong. */
function passScalar(walk: Walk): boolean {
  const rest = walk.text.slice(walk.position, walk.position + 400);
  const number = /^-?\d+(\.\d+)?([eE][+-]?\d+)?/.exec(rest)?.[0];
  const word = ['true', 'false', 'null'].find((name) => name.startsWith(rest.charAt(0))) ?? '';
  const passed = number?.length ?? sameStart(rest, word);
  walk.position += passed;
  walk.previous = '0';
  return number !== undefined || (word !== '' && passed === word.length);
}

function sameStart(text: string, word: string): number {
  let length = 0;
  while (length < word.length && text.charAt(length) === word.charAt(length)) length += 1;
  return length;
}

function passString(walk: Walk): void {
  let end = walk.text.indexOf('"', walk.position + 1);
  while (end !== -1 && isEscaped(walk.text, end)) end = walk.text.indexOf('"', end + 1);
  walk.position = end === -1 ? walk.text.length : end + 1;
  walk.previous = '"';
}

function isEscaped(text: string, position: number): boolean {
  let slashes = 0;
  while (text.charAt(position - 1 - slashes) === '\\') slashes += 1;
  return slashes % 2 === 1;
}
