import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The members of any form of a running Weir. */
export type ServedWeir = {
  readonly gatewayUrl: string;
  /** Empty without a monitor. */
  readonly monitorUrl: string;
  /** Empty without a console. */
  readonly consoleUrl: string;
  /** A link that signs in once; empty without a console. */
  readonly consoleLink: string;
  /** Empty if the metrics are not served. */
  readonly metricsUrl: string;
  readonly apiKey: string;
  readonly billingToken: string;
  readonly dataDirectory: string;
  /** Everything logged so far; a process also prints its welcome. */
  readonly output: () => string;
  /** Stops it and removes its data directory. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** A real Weir, started as its users start it, in a process of its own. */
export type RunningWeir = ServedWeir & {
  readonly process: ChildProcess;
  /** Sends a signal and waits for the end; returns the exit code, or undefined if a signal ended it. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | undefined>;
};

/** The options of any form of a Weir. */
export type ServeWeirOptions = {
  /** `start` by default: the gateway with its monitor. */
  readonly command?: 'start' | 'gateway' | 'monitor' | 'console';
  /** Text of weir.yaml. */
  readonly config?: string;
  /** An existing data directory, which then is not removed. */
  readonly dataDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

export type StartWeirOptions = ServeWeirOptions & {
  /** Appended to the command, for example `--workers`. */
  readonly commandArguments?: readonly string[];
  /** The time limit for its start; a minute by default. */
  readonly readyWithinMs?: number;
  /** Arguments of node itself, before the program. */
  readonly nodeArguments?: readonly string[];
  /** `weir.js` of another tree, for tests of several versions. */
  readonly program?: string;
};

/** Runs the bundle, which the runs of package.json make first, or the sources if there is none of them. */
export const program = join(import.meta.dirname, '../../weir.js');
const readyWithinMs = 60_000;
const stopWithinMs = 60_000;
const outputWithinMs = 5000;

/**
 * A run of the tests starts hundreds of programs, and each would spend half of its time on compiling the same sources.
 */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/** Children of a killed program may live a moment longer, and write. */
export const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;

/** The environment of a test's Weir: none of the machine's vendor keys or settings. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/tmp',
    WEIR_LOG_LEVEL: 'warn',
    // Suites about the console ask for a port.
    WEIR_CONSOLE_PORT: 'off',
    NODE_COMPILE_CACHE: compileCache,
    ...extra,
  };
}

async function waitForEnd(child: ChildProcess): Promise<number | undefined> {
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  const code = hasEnded ? (child.exitCode ?? undefined) : await waitForExit(child);
  await waitForOutput(child);
  return code;
}

function waitForExit(child: ChildProcess): Promise<number | undefined> {
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

/**
 * The last output of a program may be read after its end is known. One of its children may hold the streams open for
 * longer; the test does not wait for that.
 */
async function waitForOutput({ stdout, stderr }: ChildProcess): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), outputWithinMs);
  const open = [stdout, stderr].flatMap((stream) => (stream === null || stream.closed ? [] : [stream]));
  await Promise.all(open.map((stream) => once(stream, 'close', { signal: late.signal }).catch(() => undefined)));
  clearTimeout(timer);
}

function waitForReadyLine(child: ChildProcess, output: () => string, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(`${reason}; it printed:\n${output()}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('Weir was not ready in time');
    }, limitMs);
    const look = (): void => {
      const line = /^weir ready: .*(?=\n)/m.exec(output())?.[0];
      if (line === undefined) return;
      clearTimeout(timer);
      resolve(line);
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => {
      clearTimeout(timer);
      void waitForOutput(child).then(() => fail(`Weir ended with code ${String(code)} before it was ready`));
    });
  });
}

/**
 * The environment of a test's Weir at its start: its data directory with its configuration, its credentials and its
 * variables.
 */
export function prepareWeir(options: Pick<StartWeirOptions, 'config' | 'dataDirectory' | 'environment'>): {
  readonly dataDirectory: string;
  readonly apiKey: string;
  readonly billingToken: string;
  readonly environment: Record<string, string>;
} {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'weir-test-'));
  const apiKey = options.environment?.['WEIR_API_KEY'] ?? 'test-key-of-the-first-user';
  const billingToken = options.environment?.['WEIR_BILLING_TOKEN'] ?? 'test-billing-token';
  const configFile = join(dataDirectory, 'weir.yaml');
  if (options.config !== undefined) writeFileSync(configFile, options.config);
  const environment = cleanEnvironment({
    WEIR_PORT: '0',
    WEIR_MONITOR_PORT: '0',
    WEIR_DATA_DIR: dataDirectory,
    WEIR_API_KEY: apiKey,
    WEIR_BILLING_TOKEN: billingToken,
    ...(options.config === undefined ? {} : { WEIR_CONFIG: configFile }),
    ...options.environment,
  });
  return { dataDirectory, apiKey, billingToken, environment };
}

/**
 * Starts Weir on free ports in a process of its own and waits for its ready line. Suites that are not about the process
 * use `serveWeir`.
 */
export async function startWeir(options: StartWeirOptions = {}): Promise<RunningWeir> {
  const { dataDirectory, apiKey, billingToken, environment } = prepareWeir(options);
  const child = spawn(
    process.execPath,
    [...(options.nodeArguments ?? []), options.program ?? program, options.command ?? 'start', ...(options.commandArguments ?? [])],
    { cwd: dataDirectory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  // A chunk of output may end within a character.
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (printed += text));
  const line = await waitForReadyLine(child, () => printed, options.readyWithinMs ?? readyWithinMs);
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | undefined> => {
    child.kill(signal);
    return waitForEnd(child);
  };
  return {
    gatewayUrl: /gateway (\S+)/.exec(line)?.[1] ?? '',
    monitorUrl: /monitor (\S+)/.exec(line)?.[1] ?? '',
    consoleUrl: /console (\S+)/.exec(line)?.[1] ?? '',
    consoleLink: /^Console .*: (\S+)$/m.exec(printed)?.[1] ?? '',
    metricsUrl: /metrics (\S+)/.exec(line)?.[1] ?? '',
    apiKey,
    billingToken,
    dataDirectory,
    process: child,
    output: () => printed,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL');
      if (options.dataDirectory === undefined) rmSync(dataDirectory, removal);
    },
  };
}
