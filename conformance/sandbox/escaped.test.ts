import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { findSeals } from '../../src/tools/code-execution/find-seals.ts';
import { composeCommand, type HostSeal } from '../../src/tools/code-execution/seal-command.ts';
import { type Host, openHost, usualLimits } from './sandbox-kit.ts';

type Line = { readonly name: string; readonly done: boolean; readonly value?: string; readonly error?: string };

/** Runs the attacker's program with the seals of a sandbox, in place of the real one. */
async function attack(host: Host, seals: ReadonlySet<HostSeal>): Promise<readonly Line[]> {
  const script = fileURLToPath(new URL('./escaped-program.ts', import.meta.url));
  const { program, args } = composeCommand(seals, usualLimits, [
    join(host.folder, 'journal'),
    host.folder,
    String(host.port),
    String(process.pid),
  ]);
  const own = args.map((arg) => {
    if (arg.endsWith('sandbox-child.ts')) return script;
    return /^--allow-fs-read=.*\/child\/$/.test(arg) ? `--allow-fs-read=${script}` : arg;
  });
  const child = spawn(program, own, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000, killSignal: 'SIGKILL' });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('JavaScript of an attacker in the process of a sandbox', () => {
  let host: Host;
  let everything: ReadonlySet<HostSeal>;
  before(async () => {
    host = await openHost();
    everything = await findSeals(usualLimits);
  });
  after(() => host.close());

  test('with Node’s seals and limits alone, only signals can leave it', async () => {
    const lines = await attack(host, new Set());
    assert.ok(lines.length >= 30, `${lines.length} attempts`);
    assert.deepEqual(
      lines.filter((line) => line.done && line.name !== 'signal'),
      [],
    );
    await host.assertUntouched();
  });

  test('with every seal that this host supports, nothing leaves it', async () => {
    const lines = await attack(host, everything);
    const own = everything.has('namespaces') || everything.has('bubblewrap');
    assert.deepEqual(
      lines.filter((line) => line.done && (own || line.name !== 'signal')),
      [],
    );
    await host.assertUntouched();
  });
});
