import { spawn } from 'node:child_process';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { type ChatInterface, chatInterfaces } from '../support/interfaces.ts';

/**
 * Calls at a constant rate, independent of the earlier ones: like many clients, and unlike clients that wait for their
 * answers.
 */
export type OpenLoopTask = {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Called in turn. */
  readonly calls: readonly { readonly dialect: DialectId; readonly model: string; readonly stream: boolean }[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A call that has not ended by then counts as broken. */
  readonly limitMs: number;
};

/** A client's view of one call. Times are milliseconds of the machine's clock, or since the call's start. */
export type SeenCall = {
  readonly number: number;
  readonly model: string;
  readonly dialect: string;
  readonly stream: boolean;
  readonly startedAtMs: number;
  /** Since the start; absent if no byte of a body came. */
  readonly firstByteMs?: number;
  readonly tookMs: number;
  /** 0 if no status line came. */
  readonly status: number;
  /** The transport ended properly, with the dialect's end. */
  readonly complete: boolean;
  /** The stream ended with the dialect's error event. */
  readonly toldError: boolean;
  readonly retryAfter?: string;
  readonly callId?: string;
  /** The beginning of an invalid reply. */
  readonly words?: string;
};

/**
 * Starts the clients in a process of their own, so that nothing else of a test delays them. `done` resolves with all
 * calls in the order of their ends.
 */
export function startOpenLoop(task: OpenLoopTask): { readonly done: Promise<readonly SeenCall[]> } {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const seen: SeenCall[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => seen.push(JSON.parse(line) as SeenCall));
  const done = new Promise<readonly SeenCall[]>((resolve, reject) => {
    lines.once('close', () => resolve(seen));
    child.once('error', reject);
  });
  return { done };
}

/** The value below which this share of the values is; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const tailCharacters = 4096;

function interfaceOf(dialect: DialectId): ChatInterface {
  const found = chatInterfaces.find((api) => api.dialect === dialect);
  if (found === undefined) throw new Error(`no interface of ${dialect}`);
  return found;
}

function run(task: OpenLoopTask): void {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const startedMs = performance.now();
  const total = Math.round(task.perSecond * task.seconds);
  let number = 0;
  let open = 0;
  const timer = setInterval(() => {
    // Late ticks are made up for: the rate follows the clock.
    const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1000) * task.perSecond));
    for (; number < due; number++) {
      open += 1;
      callOnce(task, number, agent, (seen) => {
        open -= 1;
        process.stdout.write(`${JSON.stringify(seen)}\n`);
        if (number >= total && open === 0) agent.destroy();
      });
    }
    if (number >= total) clearInterval(timer);
  }, 5);
}

function callOnce(task: OpenLoopTask, number: number, agent: Agent, end: (seen: SeenCall) => void): void {
  const asked = task.calls[number % task.calls.length];
  if (asked === undefined) throw new Error('no calls to make');
  const { stream, model } = asked;
  const api = interfaceOf(asked.dialect);
  const body = JSON.stringify(api.body(model, `Hello ${number}`, stream));
  const sentMs = performance.now();
  const startedAtMs = performance.timeOrigin + sentMs;
  let text = '';
  let firstByteMs: number | undefined;
  let reply: IncomingMessage | undefined;
  let ended = false;
  const finish = (whole: boolean): void => {
    if (ended) return;
    ended = true;
    clearTimeout(limit);
    const status = reply?.statusCode ?? 0;
    const complete = whole && status === 200 && (stream ? api.terminal.test(text) && !api.errorEvent.test(text) : isWhole(text));
    const retryAfter = reply?.headers['retry-after'];
    const callId = reply?.headers['x-weir-request-id'];
    end({
      number,
      model,
      dialect: asked.dialect,
      stream,
      startedAtMs,
      ...(firstByteMs === undefined ? {} : { firstByteMs }),
      tookMs: performance.now() - sentMs,
      status,
      complete,
      toldError: stream && status === 200 && api.errorEvent.test(text),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(typeof callId === 'string' ? { callId } : {}),
      ...(complete ? {} : { words: text.slice(-300) }),
    });
  };
  const outgoing = request(`${task.gatewayUrl}${api.path(model, stream)}`, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${task.apiKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...api.headers,
      ...task.headers,
    },
  });
  const limit = setTimeout(() => {
    finish(false);
    outgoing.destroy();
  }, task.limitMs);
  outgoing.on('error', () => finish(false));
  outgoing.on('response', (incoming) => {
    reply = incoming;
    incoming.on('data', (chunk: Buffer) => {
      firstByteMs ??= performance.now() - sentMs;
      text += chunk.toString('latin1');
      // Only the end of a stream is checked.
      if (stream && text.length > 4 * tailCharacters) text = text.slice(-tailCharacters);
    });
    incoming.on('error', () => finish(false));
    incoming.on('close', () => finish(incoming.complete));
  });
  outgoing.end(body);
}

function isWhole(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !('error' in body && body.error !== null);
  } catch {
    // A truncated JSON is not a reply.
    return false;
  }
}

if (import.meta.main) run(JSON.parse(process.argv[2] ?? '{}') as OpenLoopTask);
