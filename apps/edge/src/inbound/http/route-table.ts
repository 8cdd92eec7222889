/** Which methods a path has: the difference between 404 and 405. */
export interface RouteTable {
  /** @param url a path; `*` at its end stands for one or more characters */
  add(method: 'GET' | 'POST', url: string): void;
  /** Methods of the path, as in an Allow header; undefined: there is no such path. */
  allowed(path: string): string | undefined;
}

export function createRouteTable(): RouteTable {
  const routes: { method: string; url: string }[] = [];
  return {
    add: (method, url) => routes.push({ method, url }),
    allowed(path) {
      const methods = routes.filter(({ url }) => covers(url, path)).map(({ method }) => method);
      if (methods.length === 0) return undefined;
      if (methods.includes('GET')) methods.push('HEAD');
      return [...methods, 'OPTIONS'].join(', ');
    },
  };
}

function covers(url: string, path: string): boolean {
  if (!url.endsWith('*')) return path === url || path === `${url}/`;
  const prefix = url.slice(0, -1);
  return path.startsWith(prefix) && path.length > prefix.length;
}
