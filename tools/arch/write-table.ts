// Refreshes the import table in ARCHITECTURE.md; part of `npm run gen`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from './render-table.ts';
import { root } from './scan-imports.ts';

const path = join(root, 'ARCHITECTURE.md');
writeFileSync(path, withTable(readFileSync(path, 'utf8')));
