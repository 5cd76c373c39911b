import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A real Weir, started as its users start it, in a process of its own. */
export type RunningWeir = {
  readonly gatewayUrl: string;
  readonly monitorUrl: string;
  /** Empty where the metrics are not served. */
  readonly metricsUrl: string;
  readonly apiKey: string;
  readonly billingToken: string;
  readonly dataDirectory: string;
  readonly process: ChildProcess;
  /** Everything printed so far, on both streams. */
  readonly output: () => string;
  /** Sends a signal and waits for the end; returns the exit code, or undefined when a signal ended it. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | undefined>;
  /** Stops it and removes its data directory. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type StartWeirOptions = {
  readonly command?: 'start' | 'gateway' | 'monitor';
  /** Arguments of the command. */
  readonly commandArguments?: readonly string[];
  /** Text of weir.yaml. */
  readonly config?: string;
  /** An existing data directory, which then is not removed. */
  readonly dataDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** For how long it is waited for; a minute by default. */
  readonly readyWithinMs?: number;
  /** Arguments of node itself, before the program. */
  readonly nodeArguments?: readonly string[];
};

export const program = join(import.meta.dirname, '../../src/main/weir.ts');
const readyWithinMs = 60_000;
const stopWithinMs = 60_000;

/** Hundreds of programs are started in a run of the tests, and half of the time that each needs goes into compiling the same sources. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/** The environment of a test's Weir: none of the machine's vendor keys or settings. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/tmp',
    WEIR_LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: compileCache,
    ...extra,
  };
}

function waitForEnd(child: ChildProcess): Promise<number | undefined> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  if (child.signalCode !== null) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('Weir did not end in time'));
    }, stopWithinMs);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code ?? undefined);
    });
  });
}

function waitForReadyLine(child: ChildProcess, output: () => string, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(`${reason}; it printed:\n${output()}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('Weir was not ready in time');
    }, limitMs);
    const look = (): void => {
      // With its end: output comes in pieces.
      const line = /^weir ready: .*(?=\n)/m.exec(output())?.[0];
      if (line === undefined) return;
      clearTimeout(timer);
      resolve(line);
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`Weir ended with code ${String(code)} before it was ready`);
    });
  });
}

/** Starts Weir on free ports and waits for its ready line. */
export async function startWeir(options: StartWeirOptions = {}): Promise<RunningWeir> {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'weir-test-'));
  const apiKey = options.environment?.['WEIR_API_KEY'] ?? 'test-key-of-the-first-user';
  const billingToken = options.environment?.['WEIR_BILLING_TOKEN'] ?? 'test-billing-token';
  const configFile = join(dataDirectory, 'weir.yaml');
  if (options.config !== undefined) writeFileSync(configFile, options.config);
  const child = spawn(
    process.execPath,
    [...(options.nodeArguments ?? []), program, options.command ?? 'start', ...(options.commandArguments ?? [])],
    {
      cwd: dataDirectory,
      env: cleanEnvironment({
        WEIR_PORT: '0',
        WEIR_MONITOR_PORT: '0',
        WEIR_DATA_DIR: dataDirectory,
        WEIR_API_KEY: apiKey,
        WEIR_BILLING_TOKEN: billingToken,
        ...(options.config === undefined ? {} : { WEIR_CONFIG: configFile }),
        ...options.environment,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let printed = '';
  const collect = (chunk: string): void => void (printed += chunk);
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const line = await waitForReadyLine(child, () => printed, options.readyWithinMs ?? readyWithinMs);
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | undefined> => {
    child.kill(signal);
    return waitForEnd(child);
  };
  return {
    gatewayUrl: /gateway (\S+)/.exec(line)?.[1] ?? '',
    monitorUrl: /monitor (\S+)/.exec(line)?.[1] ?? '',
    metricsUrl: /metrics (\S+)/.exec(line)?.[1] ?? '',
    apiKey,
    billingToken,
    dataDirectory,
    process: child,
    output: () => printed,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL');
      if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
