import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from 'undici';

import type { OtlpSpan } from '../../../gateway/telemetry/call-spans.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Tracing } from './read-tracing.ts';
import { loadUndici } from '../../../platform/http/load-undici.ts';

/** Statuses that OTLP defines as retryable (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const attemptsMax = 3;
const firstBackoffMs = 500;
const warnIntervalMs = 60_000;
const answerBytesMax = 64 * 1024;

/**
 * Posts a text. Returns the status or the kind of failure. The message of an error may contain an address with a
 * credential.
 */
async function post(tracing: Tracing, connection: Promise<Agent>, body: string, stopped: AbortSignal): Promise<number | string> {
  const { url, headers, timeoutMs } = tracing;
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopped]);
    const [{ request }, dispatcher] = await Promise.all([loadUndici(), connection]);
    const answer = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal,
      dispatcher,
    });
    await answer.body.dump({ limit: answerBytesMax, signal });
    return answer.statusCode;
  } catch (error) {
    if (!(error instanceof Error)) return 'failed';
    return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  }
}

/**
 * Sends spans to an OpenTelemetry collector, as JSON over HTTP: in batches, one at a time, with a bounded queue and a
 * time limit. A slow or unavailable collector only loses spans.
 */
export class SpanExporter {
  readonly #tracing: Tracing;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #monotonicMs: () => number;
  readonly #connection = loadUndici().then(({ Agent }) => new Agent({ connections: 1 }));
  readonly #stopped = new AbortController();
  #queue: OtlpSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #sent = 0;
  #dropped = 0;
  #warnedMs = -Infinity;

  constructor(tracing: Tracing, logger: Pick<Logger, 'warn'>, monotonicMs: () => number) {
    this.#tracing = tracing;
    this.#logger = logger;
    this.#monotonicMs = monotonicMs;
  }

  /** Queues spans for the next batch. Never waits and never throws: spans beyond the queue are dropped and counted. */
  add(spans: readonly OtlpSpan[]): void {
    if (spans.length === 0) return;
    const { queueMax, batchMax, delayMs } = this.#tracing;
    for (const span of spans) {
      if (this.#queue.length < queueMax) this.#queue.push(span);
      else this.#dropped += 1;
    }
    if (this.#queue.length >= batchMax) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), delayMs).unref();
  }

  counts(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  /** Sends queued spans until the time is over, and ends. */
  async close(withinMs: number): Promise<void> {
    const limit = setTimeout(() => this.#stopped.abort(), withinMs);
    try {
      await this.#start();
      // Spans may have been added during the last batch.
      await this.#start();
    } finally {
      clearTimeout(limit);
      this.#stopped.abort();
      await (await this.#connection).destroy();
    }
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, this.#tracing.batchMax);
      this.#queue = this.#queue.slice(this.#tracing.batchMax);
      // Sequential on purpose: an overloaded collector gets one request at a time.
      await this.#send(batch);
    }
  }

  async #send(batch: readonly OtlpSpan[]): Promise<void> {
    const attributes = Object.entries(this.#tracing.resource).map(([key, stringValue]) => ({ key, value: { stringValue } }));
    const body = JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: 'weir' }, spans: batch }] }] });
    const { signal } = this.#stopped;
    for (let attempt = 1; ; attempt++) {
      const answer = await post(this.#tracing, this.#connection, body, signal);
      if (typeof answer === 'number' && answer >= 200 && answer < 300) {
        this.#sent += batch.length;
        return;
      }
      const isFinal = typeof answer === 'number' && !retryable.has(answer);
      if (isFinal || attempt === attemptsMax || signal.aborted) return this.#drop(batch.length, answer);
      await delay(firstBackoffMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => {
        // Stopped during the wait; the next attempt ends at once.
      });
    }
  }

  #drop(spans: number, answer: number | string): void {
    this.#dropped += spans;
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#warnedMs < warnIntervalMs) return;
    this.#warnedMs = nowMs;
    const { origin } = new URL(this.#tracing.url);
    this.#logger.warn({ collector: origin, answer, dropped: this.#dropped }, 'span export failed');
  }
}
