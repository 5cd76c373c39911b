/**
 * The possibilities of an attacker who has left the interpreter and runs arbitrary JavaScript in the sandbox's process:
 * tries everything and prints the result of each attempt as one line of JSON. It is started with the seals of a sandbox
 * in place of the real program.
 */
const [secretFile = '', folder = '', port = '0', gatewayPid = '0'] = process.argv.slice(2);

/** Makes a function from a text, by the constructor that every function leads to. */
const makeCode = (text: string): (() => unknown) => (attempts.constructor.constructor as (text: string) => () => unknown)(text);

const attempts: Record<string, () => unknown> = {
  'read-file': async () => (await import('node:fs')).readFileSync(secretFile, 'utf8'),
  'read-file-promise': async () => (await import('node:fs/promises')).readFile(secretFile, 'utf8'),
  'read-passwd': async () => (await import('node:fs')).readFileSync('/etc/passwd', 'utf8'),
  'read-proc': async () => (await import('node:fs')).readFileSync(`/proc/${gatewayPid}/environ`, 'utf8'),
  'read-own-proc': async () => (await import('node:fs')).readFileSync('/proc/self/status', 'utf8'),
  'list-root': async () => (await import('node:fs')).readdirSync('/'),
  'stat-file': async () => (await import('node:fs')).statSync(secretFile).size,
  'write-file': async () => (await import('node:fs')).writeFileSync(`${folder}/owned`, 'x'),
  'link-file': async () => (await import('node:fs')).symlinkSync(secretFile, `${folder}/owned`),
  'delete-file': async () => (await import('node:fs')).unlinkSync(secretFile),
  'run-program': async () => (await import('node:child_process')).execFileSync('/bin/sh', ['-c', `touch ${folder}/owned`]),
  'spawn-binding': () => (process as unknown as { binding: (name: string) => { Process: new () => object } }).binding('spawn_sync'),
  'exec-in-place': () =>
    (process as unknown as { execve: (...all: unknown[]) => void }).execve('/bin/sh', ['sh', '-c', `touch ${folder}/owned`], {}),
  thread: async () => new (await import('node:worker_threads')).Worker('process.exit()', { eval: true }),
  cluster: async () => (await import('node:cluster')).default.fork(),
  inspector: async () => (await import('node:inspector')).open(0),
  'native-code': () => process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'),
  sqlite: async () => new (await import('node:sqlite')).DatabaseSync(`${folder}/owned`),
  wasi: async () => new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } }),
  report: () => process.report.writeReport(`${folder}/owned`),
  'heap-snapshot': async () => (await import('node:v8')).writeHeapSnapshot(`${folder}/owned`),
  'flags-later': async () => {
    (await import('node:v8')).setFlagsFromString('--no-disallow-code-generation-from-strings');
    return makeCode('return 1')();
  },
  'code-from-text': () => makeCode('return 1')(),
  connect: () => connectTo('127.0.0.1'),
  'connect-away': () => connectTo('192.0.2.1'),
  fetch: () => fetch(`http://127.0.0.1:${port}/`).then((reply) => reply.status),
  websocket: () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('refused')));
    }),
  datagram: async () => {
    const socket = (await import('node:dgram')).createSocket('udp4');
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.send('x', Number(port), '127.0.0.1', (error) => (error ? reject(error) : resolve('sent')));
    });
  },
  'look-up': async () => (await import('node:dns/promises')).lookup('localhost'),
  'resolve-name': async () => (await import('node:dns/promises')).resolve('secret.example.com'),
  listen: async () => {
    const server = (await import('node:net')).createServer();
    return new Promise((resolve, reject) => {
      server.on('error', reject);
      server.listen(0, () => resolve('listening'));
    });
  },
  environment: () => {
    const names = Object.keys(process.env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    if (names.length === 0) throw new Error('empty');
    return names;
  },
};

async function connectTo(host: string): Promise<unknown> {
  const net = await import('node:net');
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port: Number(port), timeout: 1000 }, () => resolve('connected'));
    socket.on('error', reject).on('timeout', () => reject(new Error('timeout')));
  });
}

for (const [name, attempt] of Object.entries(attempts)) {
  let line: object;
  try {
    const value = await attempt();
    line = { name, done: true, value: String(value).slice(0, 200) };
  } catch (error) {
    line = {
      name,
      done: false,
      error: error instanceof Error ? `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`.slice(0, 200) : 'thrown',
    };
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
let signalled = false;
try {
  signalled = process.kill(Number(gatewayPid), 0);
} catch {
  signalled = false;
}
process.stdout.write(`${JSON.stringify({ name: 'signal', done: signalled })}\n`);
process.exit(0);
