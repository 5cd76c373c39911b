import { spawn } from 'node:child_process';

import { cleanEnvironment, program } from '../support/start-weir.ts';

export type Finished = { readonly code: number | undefined; readonly stdout: string; readonly stderr: string };

/** Far more than a command takes on a machine that is busy with other suites. */
const endsWithinMs = 60_000;

/** Runs a command to its end. */
export function runToEnd(
  command: string,
  commandArguments: readonly string[],
  options: { readonly environment?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<Finished> {
  const child = spawn(command, commandArguments, {
    env: cleanEnvironment(options.environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let stdout = '';
  let stderr = '';
  // Characters of several bytes may arrive in two pieces.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (stderr += chunk));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`it did not end in time: ${stdout}${stderr}`));
    }, endsWithinMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? undefined, stdout, stderr });
    });
  });
}

/** Runs a `weir` command to its end. */
export function runWeir(
  commandArguments: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Finished> {
  return runToEnd(process.execPath, [program, ...commandArguments], { environment, ...(cwd === undefined ? {} : { cwd }) });
}
