import { connect, type Socket } from 'node:net';

/**
 * Load on keep-alive connections, one request at a time on each. Raw sockets, because a full client would cost more than the proxies that
 * it measures. Prints one JSON line: requests, seconds, latency percentiles, events.
 */
type Task = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly bodyBytes: number;
  readonly stream?: { readonly events: number; readonly perSecond: number };
  readonly apiKey: string;
};

const task = JSON.parse(process.argv[2] ?? '{}') as Task;

function requestBytes(): Buffer {
  const stream =
    task.stream === undefined
      ? {}
      : { stream: true, stream_options: { include_usage: true }, max_tokens: task.stream.events, seed: task.stream.perSecond };
  const frame = {
    model: 'bench-model',
    messages: [
      { role: 'system', content: 'You measure.' },
      { role: 'user', content: '' },
    ],
    temperature: 0.5,
    ...stream,
  };
  const text = 'How fast is it? '.repeat(Math.ceil(task.bodyBytes / 16));
  frame.messages[1] = { role: 'user', content: text.slice(0, Math.max(1, task.bodyBytes - JSON.stringify(frame).length)) };
  const body = JSON.stringify(frame);
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${task.apiKey}\r\ncontent-type: application/json\r\nuser-agent: bench\r\naccept: */*\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const bytes = requestBytes();
const latenciesMs: number[] = [];
let requests = 0;
let events = 0;
let failures = 0;
const startedMs = performance.now();
const endsMs = startedMs + task.seconds * 1000;

/** Tells when the reply in `text` is complete: by its declared length, or by the last chunk. */
function isComplete(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= head + 4 + Number(length);
}

function run(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    let text = '';
    let sentMs = performance.now();
    const next = (): void => {
      if (performance.now() >= endsMs) {
        socket.destroy();
        resolve();
        return;
      }
      text = '';
      sentMs = performance.now();
      socket.write(bytes);
    };
    socket.on('data', (chunk: Buffer) => {
      const part = chunk.toString('latin1');
      if (task.stream !== undefined) {
        let at = part.indexOf('data: ');
        while (at !== -1) {
          events += 1;
          at = part.indexOf('data: ', at + 6);
        }
        text = (text.length > 4096 ? text.slice(0, 1024) : text) + part;
      } else {
        text += part;
      }
      if (!isComplete(text)) return;
      requests += 1;
      if (!text.startsWith('HTTP/1.1 200')) failures += 1;
      latenciesMs.push(performance.now() - sentMs);
      next();
    });
    socket.on('error', () => {
      failures += 1;
      resolve();
    });
    socket.on('close', () => resolve());
    next();
  });
}

await Promise.all(
  Array.from({ length: task.connections }, async () => {
    const socket = connect(task.port, '127.0.0.1');
    socket.setNoDelay(true);
    await new Promise((resolve) => socket.once('connect', resolve));
    await run(socket);
  }),
);

latenciesMs.sort((a, b) => a - b);
const percentile = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
console.log(
  JSON.stringify({
    requests,
    failures,
    events,
    seconds: (performance.now() - startedMs) / 1000,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  }),
);
