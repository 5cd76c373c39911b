import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentProgram } from './agent-program.ts';

type Package = Pick<AgentProgram, 'package' | 'version'>;

const installWithinMs = 600_000;

/**
 * Installs the missing programs, at exactly their versions, into a directory that can be reused. Throws if npm fails.
 */
export function installPrograms(directory: string, programs: readonly AgentProgram[]): void {
  const missing = programs.filter((program) => installedVersion(directory, program) !== program.version);
  if (missing.length === 0) return;
  mkdirSync(directory, { recursive: true });
  // Without a package.json here, npm would install into the nearest package above.
  const manifest = join(directory, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}');
  const wanted = [...new Set(missing.map((program) => `${program.package}@${program.version}`))];
  process.stderr.write(`installing ${wanted.join(' ')} into ${directory}\n`);
  const { status, error } = spawnSync('npm', ['install', '--save-exact', '--no-audit', '--no-fund', ...wanted], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: installWithinMs,
  });
  if (status !== 0) throw new Error(`npm could not install the programs: ${error?.message ?? `code ${String(status)}`}`);
}

function installedVersion(directory: string, program: Package): string | undefined {
  const manifest = join(directory, 'node_modules', program.package, 'package.json');
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string }).version;
}
