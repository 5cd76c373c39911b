import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';

import { type ChaosProxy, type Existing, type ProxyCounts, startChaosProxy, type Trouble } from './chaos-proxy.ts';

/** A proxy in a process of its own, which can stop like a machine: it answers nothing, connection attempts included. */
export type ChaosProxyProcess = ChaosProxy & {
  /** Not even a connection attempt is answered any more. Open connections go silent, unless they are reset first. */
  readonly vanish: (existing?: 'freeze' | 'reset') => Promise<void>;
  /** The process continues. */
  readonly appear: () => Promise<void>;
};

type Order =
  | { readonly do: 'set'; readonly trouble: Trouble; readonly existing: Existing | undefined }
  | { readonly do: 'counts' }
  | { readonly do: 'listen-narrowly' };

type Asked = Order & { readonly id: number };
type Told = { readonly id: number; readonly counts: ProxyCounts };

/** Starts the proxy's process and waits until it listens. */
export async function startChaosProxyProcess(targetPort: number): Promise<ChaosProxyProcess> {
  const child = fork(import.meta.filename, [String(targetPort)], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, (counts: ProxyCounts) => void>();
  let lastId = 0;
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the proxy ended with ${String(code)}`)));
    child.once('message', (message) => resolve((message as { readonly port: number }).port));
  });
  child.on('message', (message) => {
    const { id, counts } = message as Told;
    waiting.get(id)?.(counts);
    waiting.delete(id);
  });
  const ask = (order: Order): Promise<ProxyCounts> =>
    new Promise((resolve) => {
      waiting.set((lastId += 1), resolve);
      child.send({ ...order, id: lastId } satisfies Asked);
    });
  let fillers: readonly Socket[] = [];
  return {
    port,
    set: async (trouble, existing) => void (await ask({ do: 'set', trouble, existing })),
    counts: () => ask({ do: 'counts' }),
    vanish: async (existing = 'freeze') => {
      if (existing === 'reset') await ask({ do: 'set', trouble: { type: 'none' }, existing });
      await ask({ do: 'listen-narrowly' });
      child.kill('SIGSTOP');
      fillers = await fillQueue(port);
    },
    appear: async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGCONT');
      await ask({ do: 'set', trouble: { type: 'refuse' }, existing: 'reset' });
      await ask({ do: 'set', trouble: { type: 'none' }, existing: 'keep' });
    },
    [Symbol.asyncDispose]: () => endProcess(child),
  };
}

const queueTriesMax = 16;
const unansweredMs = 150;

/**
 * Connects until there is no answer: a stopped process accepts nothing, and once its queue is full Linux drops further
 * attempts.
 */
async function fillQueue(port: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < queueTriesMax) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    const answered = await new Promise<boolean>((resolve) => {
      // This process may have stalled for that long: then the answer has arrived, and is read next.
      const timer = setTimeout(() => setImmediate(() => resolve(!socket.connecting)), unansweredMs);
      socket.once('connect', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    if (!answered) return sockets;
  }
  throw new Error('a stopped process still answers connection attempts');
}

function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

async function serve(): Promise<void> {
  const proxy = await startChaosProxy(Number(process.argv[2]));
  const run = async (order: Asked): Promise<void> => {
    if (order.do === 'set') await proxy.set(order.trouble, order.existing);
    if (order.do === 'listen-narrowly') await proxy.listenNarrowly();
    process.send?.({ id: order.id, counts: await proxy.counts() } satisfies Told);
  };
  process.on('message', (message) => void run(message as Asked));
  process.on('disconnect', () => process.exit());
  process.send?.({ port: proxy.port });
}

if (import.meta.main) void serve();
