/**
 * Headers of every request to an upstream, as undici takes them: name, value, name, value …
 * @param apiKey sent as a bearer token; empty: none
 */
export function requestHeaders(apiKey: string): readonly string[] {
  const headers = [
    'content-type',
    'application/json',
    'accept-encoding',
    'identity',
    'user-agent',
    'iop-node',
  ];
  return apiKey === '' ? headers : [...headers, 'authorization', `Bearer ${apiKey}`];
}
