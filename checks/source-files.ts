import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Root of the repository. */
export const root = resolve(import.meta.dirname, '..');

export type SourceFile = {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Relative imports as paths from the root, and package imports as they stand. */
  readonly imports: readonly string[];
};

const importPattern = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|(?:^|\n)\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

/** Relative imports of a file as paths from the root, and package imports as they stand. */
export function readImports(path: string, text: string): readonly string[] {
  return [...text.matchAll(importPattern)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    return specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier;
  });
}

/** All TypeScript files under a folder of the repository. */
export function readSourceFiles(folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
    .map((name) => {
      const path = `${folder}/${name}`;
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: readImports(path, text) };
    });
}
