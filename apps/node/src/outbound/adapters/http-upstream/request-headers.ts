/**
 * Headers of every request to an upstream, as undici takes them: name, value, name, value …
 * @param apiKey sent as a bearer token; empty: none
 */
export function requestHeaders(apiKey: string, contentType = 'application/json'): readonly string[] {
  const headers = ['content-type', contentType, 'accept-encoding', 'identity', 'user-agent', 'iop-node'];
  return apiKey === '' ? headers : [...headers, 'authorization', `Bearer ${apiKey}`];
}
