const harmless = /^[\x20-\x7e]{1,256}$/;

/** Header fields of an answer whose bytes are the upstream's. What a browser makes of it is what it says, no more. */
export function rawFields(contentType: string): readonly string[] {
  const type = harmless.test(contentType) ? contentType : 'application/octet-stream';
  return ['content-type', type, 'x-content-type-options', 'nosniff'];
}

/** Only such an answer is worth waiting for: its reader can do nothing with a part of it. */
export function isJson(contentType: string): boolean {
  return /^application\/(json|[a-z0-9.-]+\+json)\s*(;|$)/i.test(contentType);
}
