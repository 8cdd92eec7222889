/** UTF-16 units; at most 48 KiB as UTF-8, so that every event fits a frame. */
export const maxTextLength = 16 * 1024;

/** `text` in pieces of at most `maxTextLength`, at least one; no character is cut in two. */
export function textPieces(text: string): string[] {
  if (text.length <= maxTextLength) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + maxTextLength, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
