// Writes docs/config-edge.md and docs/config-node.md; part of `npm run gen`.
import { writeFileSync } from 'node:fs';
import { configPages } from './pages.ts';

for (const { file, text } of configPages) writeFileSync(file, text);
