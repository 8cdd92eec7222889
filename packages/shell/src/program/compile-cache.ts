import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { isSea } from 'node:sea';

/**
 * From source, keeps what Node.js made of our TypeScript between two starts: it halves the start. In the
 * tree itself and never in the shared temporary folder, where somebody else could leave code for us. A
 * single-file binary brings its own.
 */
export function keepCompiled(): void {
  if (isSea()) return;
  const installed = join(import.meta.dirname, '../../../../node_modules');
  if (existsSync(installed)) enableCompileCache(join(installed, '.cache', 'iop'));
}
