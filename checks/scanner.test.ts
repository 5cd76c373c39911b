import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileScanner, compilerFile, scannerFile } from './scanner/compile-scanner.ts';

test(
  'the committed scanner of JSON texts is what its source compiles to',
  { skip: existsSync(compilerFile) ? false : 'npm ci --prefix checks/scanner/compiler installs the compiler' },
  () => {
    assert.ok(compileScanner().equals(readFileSync(scannerFile)), 'the source was changed: run npm run scanner');
  },
);
