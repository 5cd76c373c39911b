import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { compile } from './native/compile.ts';

/** A proxy under measurement, pinned to one core. */
export type Contestant = {
  readonly name: string;
  readonly port: number;
  /** CPU seconds used so far, user and system, by all of its processes. */
  readonly cpuSeconds: () => number;
  /** Sends a signal to its first process. */
  readonly signal?: (name: NodeJS.Signals) => void;
  /** The cores of its load, if it shares them. Default: a core of its own. */
  readonly loadCores?: string;
  /** Header lines that its requests need besides the usual ones. */
  readonly headers?: readonly string[];
  readonly stop: () => void;
};

/** Weir, and the folder of its books. */
export type WeirContestant = Contestant & { readonly dataDirectory: string };

export const proxyCore = '0';
export const loadCore = '1';
/** For contestants that share both cores with their load. */
export const allCores = '0,1';
/** The contestant that the others are compared with. */
export const bareName = 'node:http + undici';
export const apiKey = 'bench-key-of-the-load';

const ticksPerSecond = 100;

/** Reads user and system time of a process and of its children from /proc. */
export function cpuSecondsOf(pid: number): number {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return [String(pid), ...children].reduce((sum, id) => sum + cpuTicks(id), 0) / ticksPerSecond;
}

function statFields(id: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // A process may end between listing and reading; it then counts for nothing.
    return [];
  }
}

const parentOf = (id: string): number => Number(statFields(id)[1] ?? 0);
const cpuTicks = (id: string): number => Number(statFields(id)[11] ?? 0) + Number(statFields(id)[12] ?? 0);

/** Starts a pinned process and resolves with what `pattern` finds in its output. */
export function startPinned(
  core: string,
  command: readonly string[],
  pattern: RegExp,
  environment: Record<string, string> = {},
): Promise<{ child: ChildProcess; found: string }> {
  const child = spawn('taskset', ['-c', core, ...command], {
    env: { PATH: process.env['PATH'] ?? '', HOME: '/tmp', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error(`${command.join(' ')} was not ready; it printed: ${printed}`)), 60_000);
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const found = pattern.exec(printed)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve({ child, found });
    });
  });
}

const here = import.meta.dirname;

/** A whole reply of about 1 KB. */
const reply = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_785_963_542,
  model: 'bench-model',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'measured '.repeat(80), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 320,
    completion_tokens: 160,
    total_tokens: 480,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 0 },
  },
});

/** Starts the upstream of all contestants on the core of the load. */
export async function startUpstream(core = loadCore): Promise<{ readonly port: number; readonly stop: () => void }> {
  const file = join(mkdtempSync(join(tmpdir(), 'weir-bench-reply-')), 'reply.json');
  writeFileSync(file, reply);
  const { child, found } = await startPinned(core, [compile('upstream'), file], /^(\d+)$/m);
  return { port: Number(found), stop: () => void child.kill('SIGKILL') };
}

/**
 * node:http and undici with nothing in between.
 * @param way `buffered` collects request bodies, `piped` forwards their chunks
 * @param processes as many processes take the calls
 * @param shared it shares both cores with its load
 * @param preload a module that is loaded before the proxy
 */
export async function startBareProxy(
  upstreamPort: number,
  way: 'buffered' | 'piped' = 'buffered',
  { processes = 1, shared = false, preload }: { readonly processes?: number; readonly shared?: boolean; readonly preload?: string } = {},
): Promise<Contestant> {
  const { child, found } = await startPinned(
    shared ? allCores : proxyCore,
    [process.execPath, ...importing(preload), join(here, 'bare-proxy.ts'), `http://127.0.0.1:${upstreamPort}`, way, String(processes)],
    /^(\d+)$/m,
  );
  return {
    name: way === 'buffered' ? bareName : `${bareName}, piped`,
    port: Number(found),
    ...(shared ? { loadCores: allCores } : {}),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    signal: (name) => void child.kill(name),
    stop: () => void child.kill('SIGKILL'),
  };
}

const importing = (module: string | undefined): readonly string[] => (module === undefined ? [] : ['--import', module]);

/**
 * Weir with everything on, as its users start it.
 * @param variant.preload a module that is loaded before the program
 * @param variant.flags of the runtime
 * @param variant.config text of weir.yaml. Default: one compatible upstream
 * @param variant.checkout folder of another version. Default: this one
 * @param variant.workers as many processes take the calls
 * @param variant.shared it shares both cores with its load
 * @param variant.limited the load's key has a daily limit that it never meets, and its user is prepaid
 */
export async function startWeirGateway(
  upstreamPort: number,
  variant: {
    readonly name?: string;
    readonly flags?: readonly string[];
    readonly preload?: string;
    readonly limited?: boolean;
    readonly config?: string;
    readonly workers?: number;
    readonly shared?: boolean;
    readonly checkout?: string;
  } = {},
): Promise<WeirContestant> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const config = join(dataDirectory, 'weir.yaml');
  writeFileSync(
    config,
    variant.config ??
      `upstreams:\n  bench: { vendor: openai-compatible, baseUrl: "http://127.0.0.1:${upstreamPort}/v1", apiKey: upstream-key }\nmodels:\n  bench-model: { targets: [{ upstream: bench }], price: { input: "1", output: "3", cacheRead: "0.1" } }\n`,
  );
  const environment = {
    WEIR_PORT: '0',
    WEIR_DATA_DIR: dataDirectory,
    WEIR_CONFIG: config,
    WEIR_API_KEY: apiKey,
    WEIR_BILLING_TOKEN: 'bench-billing-token',
    WEIR_LOG_LEVEL: 'warn',
  };
  const program = programOf(variant);
  const workers = variant.workers === undefined ? [] : ['--workers', String(variant.workers)];
  const { child, found } = await startPinned(
    variant.shared === true ? allCores : proxyCore,
    [process.execPath, ...(variant.flags ?? []), ...importing(variant.preload), program, 'gateway', ...workers],
    /gateway http:\/\/127\.0\.0\.1:(\d+)/,
    environment,
  );
  if (variant.limited === true) limitLoad(program, environment);
  return {
    name: variant.name ?? 'Weir',
    port: Number(found),
    ...(variant.shared === true ? { loadCores: allCores } : {}),
    dataDirectory,
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    signal: (name) => void child.kill(name),
    stop: () => void child.kill('SIGKILL'),
  };
}

function programOf({ checkout = join(here, '..'), preload }: { readonly checkout?: string; readonly preload?: string }): string {
  // A preload replaces modules of the sources.
  if (preload !== undefined) return join(checkout, 'src/main/run-sources.ts');
  const bundled = join(checkout, 'weir.js');
  // The first versions had no bundle.
  return existsSync(bundled) ? bundled : join(checkout, 'src/main/weir.ts');
}

/** The key that the environment names belongs to this user, under this name. */
const loadUser = 'admin';

function limitLoad(program: string, environment: Record<string, string>): void {
  for (const command of [
    ['credits', 'top-up', loadUser, '1000000'],
    ['users', 'limit', loadUser, '--prepaid'],
    ['keys', 'update', `${loadUser}/default`, '--spend-per-day', '1000000'],
  ]) {
    const done = spawnSync(process.execPath, [program, ...command], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      encoding: 'utf8',
      timeout: 20_000,
    });
    if (done.status !== 0) throw new Error(`weir ${command.join(' ')}: ${done.stderr}`);
  }
}
