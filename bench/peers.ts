import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { type Contestant, cpuSecondsOf, proxyCore, startPinned } from './contestants.ts';
import { cacheFolder, compileGoProxy } from './native/compile.ts';

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const anyPort = (): number => 20_000 + Math.floor(Math.random() * 20_000);

/** Starts a server on a given port, and waits until it accepts connections. */
async function startServer(
  name: string,
  port: number,
  command: readonly string[],
  { headers = [], environment = {} }: { readonly headers?: readonly string[]; readonly environment?: Record<string, string> } = {},
): Promise<Contestant> {
  const child = spawn('taskset', ['-c', proxyCore, ...command], { stdio: 'ignore', env: { ...process.env, ...environment } });
  for (let attempt = 0; !(await accepts(port)); attempt += 1) {
    if (attempt === 200) throw new Error(`${name} did not accept connections within 10 s`);
    await wait(50);
  }
  return { name, port, headers, cpuSeconds: () => cpuSecondsOf(child.pid ?? 0), stop: () => child.kill('SIGTERM') };
}

/** nginx as a plain reverse proxy, or undefined where it is not installed. */
export function startNginx(upstreamPort: number): Promise<Contestant> | undefined {
  if (spawnSync('which', ['nginx']).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-nginx-'));
  mkdirSync(join(folder, 'logs'));
  const port = anyPort();
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/logs/error.log;
events { worker_connections 8192; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
 client_body_buffer_size 8m; client_max_body_size 16m; keepalive_requests 1000000;
 upstream target { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 1000000; }
 server { listen 127.0.0.1:${port}; location / { proxy_pass http://target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 300s; } } }`,
  );
  return startServer('nginx', port, ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')]);
}

/** HAProxy as a plain reverse proxy, or undefined if it is not installed. */
export function startHaproxy(upstreamPort: number): Promise<Contestant> | undefined {
  if (spawnSync('which', ['haproxy']).status !== 0) return undefined;
  const file = join(mkdtempSync(join(tmpdir(), 'weir-bench-haproxy-')), 'haproxy.cfg');
  const port = anyPort();
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  http-reuse always
  option http-no-delay
listen proxy
  bind 127.0.0.1:${port}
  server target 127.0.0.1:${upstreamPort}
`,
  );
  return startServer('haproxy', port, ['haproxy', '-f', file]);
}

/** A reverse proxy of Go's standard library, or undefined if the machine has no compiler for it. */
export async function startGoProxy(upstreamPort: number): Promise<Contestant | undefined> {
  const program = compileGoProxy();
  if (program === undefined) return undefined;
  const { child, found } = await startPinned(proxyCore, [program, `http://127.0.0.1:${upstreamPort}`], /^(\d+)$/m);
  return {
    name: 'go net/http',
    port: Number(found),
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop: () => void child.kill('SIGKILL'),
  };
}

const portkeyPackage = '@portkey-ai/gateway';

/** Portkey's gateway, which is installed from the registry on first use. It routes only: no keys, limits or books. */
export async function startPortkey(upstreamPort: number): Promise<Contestant> {
  const folder = join(cacheFolder, 'portkey');
  const program = join(folder, 'node_modules', portkeyPackage, 'build/start-server.js');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const done = spawnSync('npm', ['install', '--no-audit', '--no-fund', portkeyPackage], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 180_000,
    });
    if (done.status !== 0) throw new Error(`npm install ${portkeyPackage}: ${done.stderr}`);
  }
  const port = anyPort();
  const headers = ['x-portkey-provider: openai', `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`];
  return startServer('Portkey', port, [process.execPath, program, `--port=${port}`, '--headless'], {
    headers,
    environment: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  });
}
