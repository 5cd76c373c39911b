import { spawn } from 'node:child_process';

export type BoundedRun = {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
};

const afterTermMs = 2000;

/** Runs a program in a process group of its own and ends the whole group when it is over or out of time. */
export function runBounded(
  command: string,
  commandArguments: readonly string[],
  options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>>; readonly limitMs: number },
): Promise<BoundedRun> {
  const startedAtMs = performance.now();
  const child = spawn(command, commandArguments, {
    cwd: options.cwd,
    env: options.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  let timedOut = false;
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
  const endGroup = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // No process of the group is left, which is the goal.
    }
  };
  return new Promise((resolve, reject) => {
    let killTimer: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup('SIGTERM');
      killTimer = setTimeout(endGroup, afterTermMs, 'SIGKILL');
    }, options.limitMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    // Child processes that it left would keep the pipes open.
    child.once('exit', () => endGroup('SIGKILL'));
    child.once('close', (code) => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      resolve({ code: code ?? undefined, stdout, stderr, timedOut, durationMs: Math.round(performance.now() - startedAtMs) });
    });
  });
}
