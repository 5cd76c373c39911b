import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { parse } from 'yaml';

import { runCommand } from '../programs/run-command.ts';
import type { Block } from './read-page.ts';
import { adapt, type PageSurroundings } from './run-page.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

function merge(one: Members, other: Members): Members {
  const merged = Object.entries(other).map(([name, value]) => {
    const before = one[name];
    return [name, isMembers(before) && isMembers(value) ? merge(before, value) : value] as const;
  });
  return { ...one, ...Object.fromEntries(merged) };
}

/** The upstreams that pages name without defining them: those of docs/guide/configure.md. */
const knownUpstreams = {
  anthropic: { vendor: 'anthropic', apiKey: 'sk-1' },
  gemini: { vendor: 'gemini', apiKey: 'sk-1' },
  local: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
  openai: { vendor: 'openai', apiKey: 'sk-1' },
  xai: { vendor: 'xai', apiKey: 'sk-1' },
};

/** Parts of weir.yaml: YAML blocks without another treatment. */
function isConfiguration({ language, marker }: Block): boolean {
  return language === 'yaml' && (marker === undefined || (marker.type === 'file' && marker.value === 'weir.yaml'));
}

/** Combines the parts of weir.yaml on a page and runs `weir config check` on them. Returns its error. */
export async function checkConfiguration(page: readonly Block[], directory: string): Promise<string | undefined> {
  const parts = page.filter(isConfiguration);
  if (parts.length === 0) return undefined;
  await mkdir(directory, { recursive: true });
  const variables = parts.flatMap(({ text }) => [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  const environment = Object.fromEntries(
    variables.map((name) => [name, name.endsWith('URL') ? 'postgresql://127.0.0.1:9/weir' : `sk-${name}`]),
  );
  let config: Members = { upstreams: knownUpstreams };
  for (const { text, line } of parts) {
    const part: unknown = parse(text);
    if (!isMembers(part)) return `line ${line}: this is not a part of weir.yaml`;
    config = merge(config, part);
  }
  const file = join(directory, 'all-parts.yaml');
  await writeFile(file, JSON.stringify(config));
  const { code, stderr } = await runCommand(['config', 'check'], { ...environment, WEIR_CONFIG: file, WEIR_DATA_DIR: directory });
  return code === 0 ? undefined : stderr;
}

/** A program of a page, in the directory in which its commands were run. */
export type Program = { readonly directory: string; readonly file: string };

export async function writePrograms(page: readonly Block[], surroundings: PageSurroundings): Promise<readonly Program[]> {
  const blocks = page.filter(({ language, marker }) => language === 'ts' && marker === undefined);
  const { directory } = surroundings;
  await mkdir(directory, { recursive: true });
  return await Promise.all(
    blocks.map(async ({ text, line }) => {
      const file = join(directory, `line-${line}.ts`);
      await writeFile(file, adapt(text, surroundings));
      return { directory, file };
    }),
  );
}

/**
 * Runs all programs in one process, one after another, because loading the SDKs takes longer than the programs. Rejects
 * with the output of the first that fails.
 */
export async function runPrograms(
  programs: readonly Program[],
  {
    base,
    nodeModules,
    environment,
  }: { readonly base: string; readonly nodeModules: string; readonly environment: Readonly<Record<string, string>> },
): Promise<void> {
  await symlink(nodeModules, join(base, 'node_modules'));
  const main = join(base, 'run-programs.mjs');
  const steps = programs.map(
    ({ directory, file }) => `process.chdir(${JSON.stringify(directory)});\nawait import(${JSON.stringify(file)});\n`,
  );
  await writeFile(main, steps.join(''));
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  await promisify(execFile)(process.execPath, [main], { env, timeout: 90_000 });
}
