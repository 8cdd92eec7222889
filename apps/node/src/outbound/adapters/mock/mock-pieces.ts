import type { MockRequest } from './mock-request.ts';
import type { MockScript } from './mock-script.ts';

/** What one event of an answer carries. */
export type MockPiece =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'tool-call'; index: number; id: string; name: string }
  | { kind: 'tool-arguments'; index: number; id: string; text: string };

export interface PieceContext {
  request: MockRequest;
  /** For ids that are the same at every repetition. */
  runId: string;
}

const fillerBytes = 16 * 1024;

/** The pieces of an answer, in order, made one at a time: reasoning, text, tool calls. */
export function* mockPieces({ request, runId }: PieceContext): Generator<MockPiece> {
  const { script, echo, prompt } = request;
  if (request.embeddings !== undefined) return;
  if (echo) yield { kind: 'text', text: prompt };
  if (script.reasoning !== undefined) {
    for (const text of words(script.reasoning)) yield { kind: 'reasoning', text };
  }
  for (const text of textPieces(request)) yield { kind: 'text', text };
  yield* toolPieces(script, runId);
}

/** `length` when the caller's bound on tokens cuts the text short. */
export function finishReasonOf(request: MockRequest): string {
  const { script, maxTokens } = request;
  if (script.finish_reason !== undefined) return script.finish_reason;
  if (script.tool_calls.length > 0) return 'tool_calls';
  const isShort = maxTokens !== undefined && script.size === undefined && allText(request).length > maxTokens;
  return isShort ? 'length' : 'stop';
}

function textPieces(request: MockRequest): Iterable<string> {
  const { script, maxTokens } = request;
  if (script.size !== undefined) return filler(script.size, script.chunks);
  const pieces = allText(request);
  return maxTokens === undefined ? pieces : pieces.slice(0, maxTokens);
}

function allText({ script, prompt }: MockRequest): string[] {
  // Tool calls need no text beside them unless it was asked for.
  const silent = script.tool_calls.length > 0 ? '' : prompt;
  const text = script.text ?? silent;
  return script.chunks === undefined ? words(text) : slices(text, script.chunks);
}

function* filler(sizeBytes: number, chunks: number | undefined): Generator<string> {
  const pieceBytes = chunks === undefined ? fillerBytes : Math.max(1, Math.ceil(sizeBytes / chunks));
  const piece = 'mock '.repeat(Math.ceil(pieceBytes / 5)).slice(0, pieceBytes);
  for (let left = sizeBytes; left > 0; left -= pieceBytes)
    yield left < pieceBytes ? piece.slice(0, left) : piece;
}

function* toolPieces(script: MockScript, runId: string): Generator<MockPiece> {
  const calls = script.tool_calls.map((call, index) => {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const id = call.id ?? `call_${runId.slice(-8)}${index}`;
    return { index, id, name: call.name, pieces: slices(text, call.pieces) };
  });
  for (const { index, id, name } of calls) yield { kind: 'tool-call', index, id, name };
  // Side by side, as servers stream parallel calls.
  const longest = Math.max(0, ...calls.map((call) => call.pieces.length));
  for (let at = 0; at < longest; at++) {
    for (const { index, id, pieces } of calls) {
      const text = pieces[at];
      if (text !== undefined) yield { kind: 'tool-arguments', index, id, text };
    }
  }
}

/** Words with the white space before them, so that joined they are the text again. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** At most `count` pieces of about the same length, never inside a character. */
function slices(text: string, count: number): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(''));
  return pieces;
}
