import type { Allow } from '../../../ports/adapter-factory.ts';
import { createHostGuard } from './host-guard.ts';

/** What is wrong with `base_url` of an adapter on this Node; `example`: how one looks. */
export function urlProblems(baseUrl: string, example: string, allow: Allow): string[] {
  const url = URL.parse(baseUrl);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return [`base_url: ${JSON.stringify(baseUrl)} is not a URL like ${example}`];
  }
  const problems: string[] = [];
  if (url.username !== '' || url.password !== '') {
    problems.push(
      'base_url: holds a user name or a password; a key goes into a file (api_key_file), where an adapter takes one',
    );
  }
  if (url.search !== '' || url.hash !== '') problems.push('base_url: must end with its path, without ? or #');
  if (!createHostGuard(allow.hosts).allows(url.hostname)) {
    const list = allow.hosts.length === 0 ? 'none' : allow.hosts.join(', ');
    problems.push(`base_url: host ${url.hostname} is not allowed by node.yaml (allow.hosts: ${list})`);
  }
  return problems;
}
