import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const folder = join(import.meta.dirname, '../../deploy/proxies');

/** A file of deploy/proxies, and how the program runs with it here. */
type Kind = {
  readonly file: string;
  /** The file for a port without TLS on this machine, and a gateway with another address. Nothing else changes. */
  readonly adapt: (text: string, port: number, gateway: string, folder: string) => string;
  readonly words: (file: string, folder: string) => readonly string[];
};

const withoutTls = (text: string): string => text.replaceAll(/^\s*ssl_certificate(?:_key)? .*;\n/gm, '');

export const proxies = {
  nginx: {
    file: 'nginx.conf',
    adapt: (text, port, gateway, base) => {
      const own = withoutTls(text).replaceAll('listen 443 ssl http2;', `listen 127.0.0.1:${port};`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${base}/${name};`);
      const placed = own.replace('http {', `http {\naccess_log off;\n${paths.join('\n')}`).replace('127.0.0.1:8080', gateway);
      return `daemon off;\npid ${base}/pid;\nerror_log ${base}/error.log;\n${placed}`;
    },
    words: (file, base) => ['nginx', '-p', base, '-c', file, '-e', join(base, 'error.log')],
  },
  haproxy: {
    file: 'haproxy.cfg',
    adapt: (text, port, gateway) =>
      text
        .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
        .replace('127.0.0.1:8080', gateway)
        .replace('maxconn 40000', 'maxconn 200'),
    words: (file) => ['haproxy', '-db', '-f', file],
  },
  caddy: {
    file: 'Caddyfile',
    // Without certificates, an administration port of its own, and the sites of the monitor and the console, which
    // would listen too.
    adapt: (text, port, gateway) =>
      `{\n\tadmin off\n}\n${text.slice(0, text.indexOf('\nusage.example'))}`
        .replace('models.example', `http://:${port}`)
        .replace('127.0.0.1:8080', gateway),
    words: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
} as const satisfies Record<string, Kind>;

export type ProxyName = keyof typeof proxies;

/** The reason why the suite of a proxy is skipped; false if it is installed. */
export const skipProxy = (name: ProxyName): false | string =>
  spawnSync('which', [name]).status === 0 ? false : `${name} is not installed (apt-get install ${name})`;

export type RunningProxy = AsyncDisposable & { readonly url: string };

/** Starts the proxy with the file of deploy/proxies in front of a gateway. */
export async function startProxy(name: ProxyName, gatewayUrl: string): Promise<RunningProxy> {
  const base = mkdtempSync(join(tmpdir(), `weir-${name}-`));
  const { file, adapt, words }: Kind = proxies[name];
  const port = await findPort();
  const path = join(base, file);
  writeFileSync(path, adapt(readFileSync(join(folder, file), 'utf8'), port, new URL(gatewayUrl).host, base));
  const [command = '', ...parameters] = words(path, base);
  const child = spawn(command, parameters, {
    cwd: base,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: base },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => void (printed += piece.toString()));
  await waitUntilOpen(child, port, () => printed);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** A port of this machine that was free a moment ago. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Waits until a program listens at a port of this machine. Rejects with its output if it ends or takes too long. */
export async function waitUntilOpen(child: ChildProcess, port: number, output: () => string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`the proxy did not start: ${output()}`);
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await setTimeout(50);
    } finally {
      socket.destroy();
    }
  }
}
