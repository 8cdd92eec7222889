import { join } from 'node:path';
import { type ConfigDeclaration, renderConfigDocs } from '@iop/shell';
import { edgeConfig } from '../../apps/edge/src/config.ts';
import { nodeConfig } from '../../apps/node/src/config.ts';
import { root } from '../arch/scan-imports.ts';

export interface ConfigPage {
  /** From the root. */
  path: string;
  file: string;
  declaration: ConfigDeclaration;
  text: string;
}

/** The configuration pages, as they ought to stand in docs/. */
export const configPages: readonly ConfigPage[] = [
  toPage('docs/config-edge.md', edgeConfig),
  toPage('docs/config-node.md', nodeConfig),
];

function toPage(path: string, declaration: ConfigDeclaration): ConfigPage {
  return { path, file: join(root, path), declaration, text: renderConfigDocs(declaration) };
}
