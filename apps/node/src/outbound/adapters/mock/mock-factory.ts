import type { Clock } from '@iop/domain';
import type { AdapterConfiguration, AdapterFactory } from '../../../ports/adapter-factory.ts';
import { createMockAdapter } from './mock-adapter.ts';
import { type MockScript, parseMockScript } from './mock-script.ts';

export function createMockFactory(deps: { clock: Clock }): AdapterFactory {
  return {
    check: (configuration) => scriptProblems(configuration),
    create: (configuration) =>
      createMockAdapter({ name: configuration.name, targets: scriptsOf(configuration) }, deps),
  };
}

function scriptProblems({ targets }: AdapterConfiguration): string[] {
  const problems: string[] = [];
  for (const { name, mockScriptJson } of targets) {
    if (mockScriptJson === '') continue;
    const parsed = parseMockScript(mockScriptJson);
    if (parsed.kind === 'invalid') problems.push(`targets.${name}.script: ${parsed.message}`);
  }
  return problems;
}

/** A mock without targets has one that echoes. */
function scriptsOf({ targets }: AdapterConfiguration): Map<string, MockScript | undefined> {
  const scripts = new Map<string, MockScript | undefined>();
  for (const { name, mockScriptJson } of targets) {
    const parsed = mockScriptJson === '' ? undefined : parseMockScript(mockScriptJson);
    scripts.set(name, parsed?.kind === 'script' ? parsed.script : undefined);
  }
  if (scripts.size === 0) scripts.set('echo', undefined);
  return scripts;
}
