import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { generatedDocs } from './generated-docs.ts';
import { root } from './source-files.ts';

for (const [path, text] of Object.entries(generatedDocs())) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

// This page says what a running gateway was observed to do, so one is started.
await import('../conformance/translation/write-matrix.ts');
