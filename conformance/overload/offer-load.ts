import { connect, type Socket } from 'node:net';

/**
 * Offers calls to a gateway on raw keep-alive sockets and prints one JSON line with their results. Open: calls start at
 * their rate, independent of earlier ones, and their time runs from when they were due. Closed: each connection sends
 * its next call when the last is answered.
 */
export type Offer = {
  readonly port: number;
  readonly apiKey: string;
  /** Calls per second; absent if `connections` callers wait for their answers. */
  readonly perSecond?: number;
  readonly connections: number;
  readonly seconds: number;
  /** The first part is not counted, while the load settles. */
  readonly warmUpSeconds: number;
  /** A slower answer is useless. */
  readonly deadlineMs: number;
  readonly bodyBytes: number;
  readonly stream?: { readonly events: number; readonly perSecond: number };
  /** Every call has an unknown key of its own. */
  readonly randomKeys?: boolean;
};

export type Offered = {
  readonly offered: number;
  /** Complete answers with status 200 in time. */
  readonly good: number;
  readonly late: number;
  readonly shed: number;
  readonly otherStatuses: Readonly<Record<string, number>>;
  readonly broken: number;
  /** Calls that found no free connection: the generator could not offer them. */
  readonly notSent: number;
  readonly seconds: number;
  readonly goodMs: Percentiles;
  /** Refusals, measured from when the call was sent. */
  readonly shedMs: Percentiles;
};

type Percentiles = { readonly p50: number; readonly p90: number; readonly p99: number };

const offer = JSON.parse(process.argv[2] ?? '{}') as Offer;
const connectionsMax = 8000;

function bodyOf(): string {
  const stream =
    offer.stream === undefined
      ? {}
      : { stream: true, stream_options: { include_usage: true }, max_tokens: offer.stream.events, seed: offer.stream.perSecond };
  const empty = JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: '' }], ...stream });
  const content = 'How much can it do? '.repeat(Math.ceil(offer.bodyBytes / 20)).slice(0, Math.max(1, offer.bodyBytes - empty.length));
  return JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content }], ...stream });
}

const body = bodyOf();
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const randomText = (length: number): string =>
  Array.from({ length }, () => letters.charAt(Math.floor(Math.random() * letters.length))).join('');
const randomKey = (): string => `sk-weir-${randomText(10)}_${randomText(43)}_${randomText(6)}`;
const write = (key: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nuser-agent: bench\r\naccept: */*\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const known = Buffer.from(write(offer.apiKey));

const startedMs = performance.now();
const countsFromMs = startedMs + offer.warmUpSeconds * 1000;
const endsMs = startedMs + offer.seconds * 1000;
const idle: Caller[] = [];
const due: number[] = [];
const goodMs: number[] = [];
const shedMs: number[] = [];
const otherStatuses: Record<string, number> = {};
let callers = 0;
let offered = 0;
let late = 0;
let broken = 0;
let notSent = 0;

class Caller {
  readonly #socket: Socket;
  #status = 0;
  #left: number | undefined;
  #tail = '';
  #sentMs = 0;
  #dueMs = 0;
  #isBusy = false;

  constructor(dueMs: number) {
    callers += 1;
    this.#socket = connect(offer.port, '127.0.0.1');
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#closed());
    this.send(dueMs);
  }

  send(dueMs: number): void {
    this.#isBusy = true;
    this.#status = 0;
    this.#left = undefined;
    this.#tail = '';
    this.#dueMs = dueMs;
    this.#sentMs = performance.now();
    if (dueMs >= countsFromMs) offered += 1;
    this.#socket.write(offer.randomKeys === true ? write(randomKey()) : known);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#status === 0) {
      const head = chunk.toString('latin1');
      this.#status = Number(head.slice(9, 12));
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined) this.#left = head.indexOf('\r\n\r\n') + 4 + Number(length);
    }
    if (this.#left === undefined) {
      this.#tail = (this.#tail + chunk.subarray(-5).toString('latin1')).slice(-5);
      if (this.#tail === '0\r\n\r\n') this.#answered();
      return;
    }
    this.#left -= chunk.length;
    if (this.#left <= 0) this.#answered();
  }

  #answered(): void {
    const nowMs = performance.now();
    this.#isBusy = false;
    if (this.#dueMs >= countsFromMs) this.#count(nowMs);
    if (offer.perSecond === undefined) {
      if (nowMs < endsMs) this.send(nowMs);
      return;
    }
    const waiting = due.shift();
    if (waiting === undefined) idle.push(this);
    else this.send(waiting);
  }

  #count(nowMs: number): void {
    if (this.#status === 503 || this.#status === 529) shedMs.push(nowMs - this.#sentMs);
    else if (this.#status !== 200) otherStatuses[this.#status] = (otherStatuses[this.#status] ?? 0) + 1;
    else if (nowMs - this.#dueMs > offer.deadlineMs) late += 1;
    else goodMs.push(nowMs - this.#dueMs);
  }

  #closed(): void {
    callers -= 1;
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
    if (this.#isBusy && this.#dueMs >= countsFromMs && performance.now() < endsMs) broken += 1;
  }
}

const all: Caller[] = [];
const open = (dueMs: number): void => void all.push(new Caller(dueMs));

/** One call at its time: on an idle connection, on a new one, or as soon as one is idle. */
function offerOne(dueMs: number): void {
  const free = idle.pop();
  if (free !== undefined) free.send(dueMs);
  else if (callers < Math.min(offer.connections, connectionsMax)) open(dueMs);
  else due.push(dueMs);
}

if (offer.perSecond === undefined) {
  for (let index = 0; index < offer.connections; index += 1) open(startedMs);
} else {
  let next = startedMs;
  const stepMs = 1000 / offer.perSecond;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (; next < Math.min(nowMs, endsMs); next += stepMs) offerOne(next);
    if (nowMs >= endsMs) clearInterval(timer);
  }, 1);
}

await new Promise((resolve) => setTimeout(resolve, offer.seconds * 1000 + Math.min(offer.deadlineMs, 2000)));
for (const caller of all) caller.destroy();
notSent = due.filter((dueMs) => dueMs >= countsFromMs).length;

const percentiles = (values: number[]): Percentiles => {
  values.sort((a, b) => a - b);
  const at = (share: number): number => Math.round((values[Math.floor(values.length * share)] ?? 0) * 100) / 100;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
};
const result: Offered = {
  offered: offered + notSent,
  good: goodMs.length,
  late,
  shed: shedMs.length,
  otherStatuses,
  broken,
  notSent,
  seconds: offer.seconds - offer.warmUpSeconds,
  goodMs: percentiles(goodMs),
  shedMs: percentiles(shedMs),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
