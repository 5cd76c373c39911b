import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';

import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import { compileHeaderList } from '../../../../platform/http/header-list.ts';
import type { UpstreamController, UpstreamHandler, UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { commonRequestHeaders, passClientHeaders } from '../../../../upstreams/header-lists.ts';
import { upstreamVendors } from '../../../../upstreams/registry.ts';
import type { VendorId } from '../../../../upstreams/upstream-vendor.ts';
import { defaultLimits, defaultTimeouts, type GatewayLimits, type GatewayTimeouts } from '../../../settings/limits.ts';
import type { Upstream } from '../../routing/target.ts';
import type { ExchangeContext, Outcome, UndeliveredFailure } from '../exchange-context.ts';
import { createByteSink } from '../../../replies/connection-sink.ts';
import { createByteForm } from '../../../endpoints/chat/reply-form.ts';
import { createPassthroughRelay } from '../../../endpoints/chat/plan/passthrough-relay.ts';

const isList = (headers: Readonly<Record<string, string>> | readonly string[]): headers is readonly string[] => Array.isArray(headers);

/** A list of names and values, two by two. */
const pairs = (list: readonly string[]): readonly (readonly [string, string])[] =>
  list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? ''] as const] : []));

/** A client's connection for tests. It records the writes among all other events of the call, in order. */
class FakeResponse extends EventEmitter {
  readonly chunks: Buffer[] = [];
  status: number | undefined;
  headers: Readonly<Record<string, string>> = {};
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  /** The socket's time limit, which Node restarts whenever bytes leave, and its callback. */
  socketLimit: { readonly limitMs: number; readonly onEnd: () => void } | undefined;
  /** Set to let the next writes report a full buffer. */
  isFull = false;
  readonly #happened: string[];

  constructor(happened: string[]) {
    super();
    this.#happened = happened;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> | readonly string[]): void {
    if (this.headersSent) throw new Error('the head was written twice');
    this.status = status;
    this.headers = { ...this.headers, ...(isList(headers) ? Object.fromEntries(pairs(headers)) : headers) };
    this.headersSent = true;
    this.#happened.push(`head ${status}`);
  }

  setHeader(name: string, value: string): void {
    this.headers = { ...this.headers, [name]: value };
  }

  write(chunk: Buffer): boolean {
    if (this.writableEnded || this.destroyed) throw new Error('written after the end');
    this.chunks.push(Buffer.from(chunk));
    this.#happened.push('bytes');
    return !this.isFull;
  }

  end(chunk?: Buffer | string, encoding?: BufferEncoding): void {
    if (this.writableEnded) throw new Error('ended twice');
    if (chunk !== undefined) this.write(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    this.writableEnded = true;
    this.#happened.push('end');
  }

  setTimeout(limitMs: number, onEnd: () => void): void {
    this.socketLimit = { limitMs, onEnd };
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#happened.push('destroyed');
    this.emit('close');
  }

  /** The client received everything, or disconnected before. */
  close(): void {
    this.writableFinished = this.writableEnded;
    this.destroyed = true;
    this.emit('close');
  }

  drain(): void {
    this.isFull = false;
    this.emit('drain');
  }

  text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

/** The upstream's side of a connection. It records the gateway's calls. */
class FakeController implements UpstreamController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly #happened: string[];

  constructor(happened: string[]) {
    this.#happened = happened;
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.#happened.push('abort');
  }

  pause(): void {
    this.paused = true;
    this.#happened.push('pause');
  }

  resume(): void {
    this.paused = false;
    this.#happened.push('resume');
  }
}

export type FakeExchangeOptions = {
  readonly dialect: ChatDialect;
  readonly vendor?: VendorId;
  readonly framing?: StreamFraming | undefined;
  readonly body?: WireRequest['body'];
  readonly apiKey?: string;
  readonly timeouts?: Partial<GatewayTimeouts>;
  readonly limits?: Partial<GatewayLimits>;
  /** Whether another attempt follows a failed one. */
  readonly takesOver?: boolean;
};

/**
 * Everything that an exchange works with, as fakes with one history: a clock that tests move, a client, an upstream and
 * an observer.
 */
export type FakeExchange = {
  readonly context: ExchangeContext;
  readonly response: FakeResponse;
  readonly controller: FakeController;
  /** The events in order. */
  readonly happened: string[];
  readonly outcomes: Outcome[];
  readonly handedOver: UndeliveredFailure[];
  readonly logged: unknown[];
  readonly sent: { request: UpstreamRequest; handler: UpstreamHandler }[];
  /** Moves the clock and returns its new time. */
  readonly advance: (ms: number) => number;
};

export function createFakeUpstream(options: Pick<FakeExchangeOptions, 'vendor' | 'apiKey'>, client: Upstream['client']): Upstream {
  const vendor = upstreamVendors[options.vendor ?? 'openai-compatible'];
  return {
    id: 'one',
    vendor,
    origin: 'https://upstream.example',
    basePath: '/base',
    facts: {},
    services: vendor.services,
    apiKey: options.apiKey,
    credentialId: 'one',
    dialects: [...vendor.dialects, ...vendor.optionalDialects],
    passesRequestHeader: passClientHeaders(vendor.requestHeaders),
    passesForeignHeader: passClientHeaders(commonRequestHeaders),
    passesReplyHeader: compileHeaderList(vendor.replyHeaders),
    forwardsReplyHeader: undefined,
    acceptsStreamOptions: true,
    passesStoredIds: false,
    takesOwnSpellings: false,
    takesIdempotencyKeys: vendor.takesIdempotencyKeys ?? false,
    traitsOf: vendor.traitsOf,
    proofOrigin: vendor.id,
    client,
  };
}

export function createFakeExchange(options: FakeExchangeOptions): FakeExchange {
  const happened: string[] = [];
  const outcomes: Outcome[] = [];
  const handedOver: UndeliveredFailure[] = [];
  const logged: unknown[] = [];
  const sent: FakeExchange['sent'] = [];
  let nowMs = 1000;
  const response = new FakeResponse(happened);
  const client: Upstream['client'] = {
    send: (request, handler) => void sent.push({ request, handler }),
    close: () => Promise.resolve(),
  };
  const log = (...entry: unknown[]): void => void logged.push(entry);
  const { dialect, framing } = options;
  const target = { upstream: createFakeUpstream(options, client), upstreamModel: 'm' };
  const { passing: form } = createByteForm(dialect, framing ?? 'sse');
  const context: ExchangeContext = {
    requestId: 'req_1',
    relay: createPassthroughRelay({ dialect, form, streamRequest: options.body ?? {}, requestId: 'req_1', target, framing }),
    framing,
    target,
    sink: createByteSink({ callId: 'req_1', response: response as unknown as ServerResponse, voice: dialect.voice, framing }),
    limits: { ...defaultLimits, ...options.limits },
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    logger: { debug: log, info: log, warn: log, error: log },
    endsByMs: nowMs + (options.timeouts?.totalMs ?? defaultTimeouts.totalMs),
    handOver: (failure) => {
      if (options.takesOver !== true) return false;
      handedOver.push(failure);
      happened.push(`handed over ${failure.error.code}`);
      return true;
    },
    observer: {
      head: (status, id) => void happened.push(id === undefined ? `answered ${status}` : `answered ${status} ${id}`),
      firstContent: () => void happened.push('content'),
      progress: () => void happened.push('progress'),
      settled: (outcome, then) => {
        outcomes.push(outcome);
        happened.push(`settled ${outcome.end}`);
        then?.();
      },
    },
  };
  const advance = (ms: number): number => (nowMs += ms);
  return { context, response, controller: new FakeController(happened), happened, outcomes, handedOver, logged, sent, advance };
}
