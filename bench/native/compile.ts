import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '../../node_modules/.cache/bench');

/**
 * Compiles a program of this folder. Load and upstream are written in C so that they never limit a contestant.
 * @returns the path of the program
 * @throws if the machine has no C compiler, or if the program does not compile
 */
export function compile(name: 'load' | 'upstream'): string {
  mkdirSync(cache, { recursive: true });
  const program = join(cache, name);
  const done = spawnSync('cc', ['-O2', '-Wall', '-o', program, join(import.meta.dirname, `${name}.c`)], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (done.error !== undefined) throw new Error('The benchmarks need a C compiler: install one as `cc`.', { cause: done.error });
  if (done.status !== 0) throw new Error(`${name}.c does not compile: ${done.stderr}`);
  return program;
}
