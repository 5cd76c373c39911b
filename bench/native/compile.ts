import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where compiled and installed programs are kept between runs. */
export const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache/bench');

function build(compiler: string, parameters: readonly string[], output: string): string | undefined {
  mkdirSync(cacheFolder, { recursive: true });
  const program = join(cacheFolder, output);
  const done = spawnSync(compiler, [...parameters.slice(0, -1), '-o', program, ...parameters.slice(-1)], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { HOME: cacheFolder, ...process.env },
  });
  if (done.error !== undefined) return undefined;
  if (done.status !== 0) throw new Error(`${parameters.at(-1)} does not compile: ${done.stderr}`);
  return program;
}

/**
 * Compiles a program of this folder. Load and upstream are written in C so that they never limit a contestant.
 * @returns the path of the program
 * @throws if the machine has no C compiler, or if the program does not compile
 */
export function compile(name: 'load' | 'memory' | 'upstream'): string {
  const program = build('cc', ['-O2', '-Wall', join(import.meta.dirname, `${name}.c`)], name);
  if (program === undefined) throw new Error('The benchmarks need a C compiler: install one as `cc`.');
  return program;
}

/** Compiles the proxy in Go. Undefined if the machine has no compiler for it. */
export function compileGoProxy(): string | undefined {
  return build('go', ['build', join(import.meta.dirname, 'proxy.go')], 'go-proxy');
}
