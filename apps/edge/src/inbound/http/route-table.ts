import { type AnswerStyle, openaiStyle } from './answer-style.ts';

export type RouteMethod = 'GET' | 'POST' | 'DELETE';

/** Which methods a path has: the difference between 404 and 405. */
export interface RouteTable {
  add(route: TableRow): void;
  /** Methods of the path, as in an Allow header; undefined: there is no such path. */
  allowed(path: string): string | undefined;
  /** In which style a request for the path is refused. */
  styleOf(path: string): AnswerStyle;
}

export interface TableRow {
  method: RouteMethod;
  /** A path; `*` at its end stands for one or more characters. */
  url: string;
  style: AnswerStyle;
}

export function createRouteTable(): RouteTable {
  const routes: TableRow[] = [];
  return {
    add: (route) => routes.push(route),
    allowed(path) {
      const methods = routes.filter(({ url }) => covers(url, path)).map(({ method }) => method as string);
      if (methods.length === 0) return undefined;
      if (methods.includes('GET')) methods.push('HEAD');
      return [...methods, 'OPTIONS'].join(', ');
    },
    styleOf: (path) => routes.find(({ url }) => covers(url, path))?.style ?? openaiStyle,
  };
}

function covers(url: string, path: string): boolean {
  if (!url.endsWith('*')) return path === url || path === `${url}/`;
  const prefix = url.slice(0, -1);
  return path.startsWith(prefix) && path.length > prefix.length;
}
