import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../source-files.ts';

const sources = join(root, 'src/platform/json/scanner');

/** The committed scanner. */
export const scannerFile = join(sources, 'json-scanner.wasm');

/** Installed by `npm run scanner` alone, because nothing else needs its 100 MB. */
export const compilerFile = join(root, 'checks/scanner/compiler/node_modules/assemblyscript/bin/asc.js');

const options = [
  '-O3',
  '--noAssert',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--enable',
  'bulk-memory',
  '--initialMemory',
  '16',
  '--memoryBase',
  '16',
  '--use',
  'abort=',
];

/**
 * Compiles the scanner of JSON texts. The compiler reads only files named `.ts`, and our own tools would check those as
 * TypeScript.
 */
export function compileScanner(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'weir-scanner-'));
  try {
    for (const name of readdirSync(sources)) {
      if (name.endsWith('.as')) copyFileSync(join(sources, name), join(folder, name.replace(/\.as$/, '.ts')));
    }
    const result = spawnSync(process.execPath, [compilerFile, 'json-scanner.ts', '--outFile', 'scanner.wasm', ...options], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 300_000,
    });
    if (result.status !== 0) throw new Error(`compiler failed: ${result.stderr}`);
    return readFileSync(join(folder, 'scanner.wasm'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
