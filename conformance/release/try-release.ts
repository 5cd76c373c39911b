import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { RunningSimulator } from 'weir-simulator';

import { readPage } from '../guides/read-page.ts';
import { chatOnly } from '../responses/models.ts';
import { cleanEnvironment } from '../support/start-weir.ts';

export const run = promisify(execFile);

const release = fileURLToPath(new URL('../../build/release/release.js', import.meta.url));
/** The programs of the system. A Node there may be too old; a release brings its own. */
export const withoutNode = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
/** The key of a released program that {@link serveRelease} starts. */
export const apiKey = 'a-key-of-the-release';
export const minutesMs = 60_000;

/** Whether a program of the system is installed. */
export function hasProgram(name: string): boolean {
  return withoutNode.PATH.split(':').some((path) => existsSync(join(path, name)));
}

/** Makes artefacts of the present commit in a folder. @param only names of `npm run release -- --only` */
export async function makeRelease(folder: string, only: string): Promise<void> {
  await run(process.execPath, [release, folder, '--only', only], { timeout: 20 * minutesMs });
}

export type Served = { readonly gateway: string; readonly monitor: string; readonly console: string; readonly child: ChildProcess };

/**
 * Starts a released program on free ports, with a model of a vendor that only knows chat completions.
 * @param command what to run; if it is a shell, the commands that end with the start
 */
export async function serveRelease(
  command: readonly [program: string, ...words: string[]],
  { folder, simulator, cwd }: { readonly folder: string; readonly simulator: RunningSimulator; readonly cwd?: string },
  variables: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const [program, ...words] = command;
  const data = mkdtempSync(join(folder, 'data-'));
  writeFileSync(join(data, 'weir.yaml'), configOf(simulator));
  const child = spawn(program, words, {
    cwd: cwd ?? data,
    // A group of its own, which gets the signals of a terminal.
    detached: true,
    env: cleanEnvironment({
      ...withoutNode,
      WEIR_PORT: '0',
      WEIR_MONITOR_PORT: '0',
      WEIR_CONSOLE_PORT: '0',
      WEIR_DATA_DIR: join(data, 'weir'),
      WEIR_CONFIG: join(data, 'weir.yaml'),
      WEIR_API_KEY: apiKey,
      ...variables,
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { ...(await readyLine(child)), child };
}

/** Sends a signal to a program and to the shell around it, as a terminal does. Nothing happens if it has ended. */
export function signal({ child }: Served, name: 'SIGINT' | 'SIGKILL'): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
}

/** The commands of docs/guide/install.md below a heading, as they stand. */
export function readInstallGuide(heading: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guide/install.md'), 'utf8');
  const [block] = readPage(page.split(`\n## ${heading}\n`)[1] ?? '');
  if (block === undefined) throw new Error(`install.md has no commands below "${heading}"`);
  return block.text;
}

/** A configuration with one model at the simulated vendor. */
export function configOf(simulator: RunningSimulator): string {
  return JSON.stringify({
    upstreams: chatOnly(simulator.addresses.openai),
    models: { chat: { targets: [{ upstream: 'chat-only', model: 'gpt-4.1' }] } },
  });
}

/** Waits until the program serves; its addresses. */
async function readyLine(child: ChildProcess): Promise<Omit<Served, 'child'>> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const [found, gateway, monitor, console] = /weir ready: gateway (\S+) monitor (\S+) console (\S+)/.exec(printed) ?? [];
    if (found !== undefined && gateway !== undefined && monitor !== undefined && console !== undefined)
      return { gateway, monitor, console };
  }
  throw new Error(`It ended before it was ready: ${printed}`);
}

/** The output of a program in Python that the model lets the gateway run. */
export async function runPython(gateway: string): Promise<string | undefined> {
  const reply = await fetch(`${gateway}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'chat',
      input: 'Run python: print(6*7)',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
      include: ['code_interpreter_call.outputs'],
    }),
  });
  const { output } = (await reply.json()) as {
    readonly output?: readonly { readonly type: string; readonly outputs?: readonly { readonly logs: string }[] }[];
  };
  return output?.find(({ type }) => type === 'code_interpreter_call')?.outputs?.[0]?.logs;
}
