import { type ApiRoute, apiRoutes } from './routes.ts';

export type RouteMatch =
  | { kind: 'route'; route: ApiRoute; id: string }
  /** The path is known, with these methods. */
  | { kind: 'other-methods'; allowed: readonly string[] }
  | { kind: 'unknown' };

/** @param path below `/api/v1/`, decoded */
export function matchRoute(method: string, path: string): RouteMatch {
  const segments = path.replace(/\/$/, '').split('/');
  const onPath = apiRoutes.flatMap((route) => {
    const id = idIn(segments, route.path.split('/'));
    return id === undefined ? [] : [{ route, id }];
  });
  const match = onPath.find(({ route }) => route.method === method);
  if (match !== undefined) return { kind: 'route', ...match };
  if (onPath.length === 0) return { kind: 'unknown' };
  return { kind: 'other-methods', allowed: onPath.map(({ route }) => route.method) };
}

/** What stands where the pattern has `:id`; undefined: it does not match. */
function idIn(segments: readonly string[], pattern: readonly string[]): string | undefined {
  if (segments.length !== pattern.length) return undefined;
  let id = '';
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part === ':id' && segment !== '') id = segment;
    else if (part !== segment) return undefined;
  }
  return id;
}
