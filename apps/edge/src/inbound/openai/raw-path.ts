const segment = /^[A-Za-z0-9._~:@-]+$/;
const maxLength = 256;

/**
 * A path below /v1 that may be asked of an upstream as it is: no segment that is empty or climbs, no
 * character that somebody on the way could read in another way.
 */
export function isRawPath(path: string): boolean {
  if (path === '' || path.length > maxLength) return false;
  return path.split('/').every((part) => segment.test(part) && part !== '.' && part !== '..');
}
