import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A proxy under measurement, pinned to one core. */
export type Contestant = {
  readonly name: string;
  readonly port: number;
  /** CPU seconds used so far, user and system, by all of its processes. */
  readonly cpuSeconds: () => number;
  readonly stop: () => void;
};

export const proxyCore = '0';
export const loadCore = '1';
export const apiKey = 'bench-key-of-the-load';

const ticksPerSecond = 100;

/** Reads user and system time of a process and of its children from /proc. */
function cpuSecondsOf(pid: number): number {
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
    const timer = setTimeout(() => reject(new Error(`${command.join(' ')} was not ready; it printed: ${printed}`)), 20_000);
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

/** node:http and undici with nothing in between. */
export async function startBareProxy(upstreamPort: number): Promise<Contestant> {
  const { child, found } = await startPinned(
    proxyCore,
    [process.execPath, join(here, 'bare-proxy.ts'), `http://127.0.0.1:${upstreamPort}`],
    /^(\d+)$/m,
  );
  return {
    name: 'node:http + undici',
    port: Number(found),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop: () => child.kill('SIGKILL'),
  };
}

/**
 * Weir with everything on, as its users start it.
 * @param variant.preload a module that is loaded before the program
 * @param variant.limited the load's key has a daily limit that it never meets, and its user is prepaid
 */
export async function startWeirGateway(
  upstreamPort: number,
  variant: { readonly name?: string; readonly preload?: string; readonly limited?: boolean } = {},
): Promise<Contestant> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const config = join(dataDirectory, 'weir.yaml');
  writeFileSync(
    config,
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
  const program = join(here, '../src/main/weir.ts');
  const preload = variant.preload === undefined ? [] : ['--import', variant.preload];
  const { child, found } = await startPinned(
    proxyCore,
    [process.execPath, ...preload, program, 'gateway'],
    /gateway http:\/\/127\.0\.0\.1:(\d+)/,
    environment,
  );
  if (variant.limited === true) limitLoad(program, environment);
  return {
    name: variant.name ?? 'Weir',
    port: Number(found),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop: () => child.kill('SIGKILL'),
  };
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

/** nginx as a plain reverse proxy, or undefined where it is not installed. */
export function startNginx(upstreamPort: number): Contestant | undefined {
  if (spawnSync('which', ['nginx']).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-nginx-'));
  mkdirSync(join(folder, 'logs'));
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/logs/error.log;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
 client_body_buffer_size 1m; keepalive_requests 1000000;
 upstream target { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 1000000; }
 server { listen 127.0.0.1:${port}; location / { proxy_pass http://target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 300s; } } }`,
  );
  const child = spawn('taskset', ['-c', proxyCore, 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  return { name: 'nginx proxy_pass', port, cpuSeconds: () => cpuSecondsOf(child.pid ?? 0), stop: () => child.kill('SIGTERM') };
}
