import type { RunPlace } from '../../core/door.ts';

const maxLength = 256;
const foreign = /[^\x20-\x7e]/g;

/** Which Node executes, by which adapter, and why this one. */
export function pushPlace(head: string[], { node, adapter, route }: RunPlace): void {
  head.push('x-iop-node', node, 'x-iop-adapter', adapter);
  if (route !== undefined && route !== '') head.push('x-iop-route', headerText(route));
}

/** Text for people as the value of a header, which is ASCII. */
export function headerText(text: string): string {
  const ascii = text.replaceAll('→', '->').replace(foreign, '?').trim();
  return ascii.length > maxLength ? `${ascii.slice(0, maxLength - 3)}...` : ascii;
}
