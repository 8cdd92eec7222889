/** A stream without the numbers of its events. */
export function withoutIds(stream: string): string {
  return stream.replaceAll(/^id: \d+\n/gm, '');
}
