import type { Conversations, ResponseStatus, StoredResponse } from '../../../../conversations/response-store.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { Frame, type StreamEvent } from '../../../../platform/frames.ts';
import { membersOf, objectOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { Logger } from '../../../../platform/log.ts';
import { EventReply, type WholeAnswer } from '../../../replies/event-reply.ts';
import { EventLog } from './event-log.ts';
import { DeliveredOutput } from '../responses/keep-reply.ts';
import { endEvent, isTerminal, renumberEvent, writeEvent } from './response-events.ts';

/** The record of a background response before it is generated. */
export type RunRecord = Omit<StoredResponse, 'status' | 'response' | 'leaseUntilMs'>;

/** The methods of the store that a run uses. */
export type RunStore = Pick<Conversations, 'saveResponse' | 'extendLease' | 'appendEvents'>;

export type RunOptions = {
  readonly record: RunRecord;
  /** The response object that is answered at once. */
  readonly queued: JsonObject;
  readonly store: RunStore;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Called when the end is stored, before anybody receives it. Never rejects. */
  readonly conclude?: ((response: JsonObject) => Promise<void>) | undefined;
  readonly onOver: (run: BackgroundRun) => void;
};

/** The length of a lease, and the interval of its renewal. A process that dies is noticed when its leases expire. */
const leaseMs = 20_000;
const renewMs = 5000;
const tickMs = 200;
const retryMs = 500;
/** While more bytes than this wait for the store, the upstream waits too. */
const unstoredBytesMax = 4 * 1024 * 1024;

/** Characters of events that are kept unparsed. Only a response that ends early needs its output from its events. */
const unparsedMax = 1024 * 1024;

const openingTypes: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);

/**
 * A response that is generated without a client. It reads the reply of its own call, stores its events and its state,
 * and renews its lease every few seconds. The first of these ends it: its reply, a cancellation, the end of the
 * process.
 */
export class BackgroundRun {
  readonly record: RunRecord;
  readonly log = new EventLog();
  /** The call writes its reply here. */
  readonly reply: EventReply;
  readonly #options: RunOptions;
  readonly #output = new DeliveredOutput(unparsedMax);
  readonly #over = Promise.withResolvers<void>();
  #response: JsonObject;
  #hasBegun = false;
  #isPaused = false;
  #isLost = false;
  #ending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Steps at the store, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isStoring = false;
  #batch: ReturnType<EventLog['unstored']> | undefined;
  /** Wall-clock time at which the lease expires, and the time of the next renewal on the monotonic clock. */
  #leaseUntilMs = 0;
  #renewAtMs = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.record = options.record;
    this.#response = options.queued;
    const reader = {
      event: (event: StreamEvent) => this.#read(event),
      whole: (answer: WholeAnswer) => this.#fail(describeRefusal(answer)),
      ended: () => this.#replyEnded(),
      isFull: () => this.#isFull(),
      destroyed: () => this.#fail({ code: 'server_error', message: 'The response could not be stored while it was generated.' }),
    };
    this.reply = new EventReply(reader);
  }

  /** True if another process has ended the response. The stored state then counts. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Resolves when the response has ended and its end is stored. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** The current state of the response. */
  get response(): JsonObject {
    return this.#response;
  }

  /** Stores the queued response and starts to renew its lease. Rejects as the store does. */
  async begin(): Promise<void> {
    const { store, queued } = this.#options;
    const leaseUntilMs = this.#nextLease();
    await store.saveResponse({ ...this.record, status: 'queued', response: queued, leaseUntilMs });
    this.#leaseUntilMs = leaseUntilMs;
    this.#add('response.created', { response: queued });
    this.#add('response.queued', { response: queued });
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Cancels the response with the output so far, unless it has ended. Resolves with its state. */
  async cancel(): Promise<JsonObject> {
    this.#end({ ...this.#response, status: 'cancelled', output: this.#output.items() });
    this.reply.leave();
    await this.over;
    return this.#response;
  }

  /** Ends the response as failed with the output so far, unless it has ended. */
  async abort(code: string, message: string): Promise<void> {
    this.#fail({ code, message });
    this.reply.leave();
    await this.over;
  }

  #nextLease(): number {
    this.#renewAtMs = this.#options.clock.monotonicMs() + renewMs;
    return this.#options.clock.nowMs() + leaseMs;
  }

  #add(type: string, members: JsonObject): void {
    this.log.add(writeEvent(type, this.log.next, members));
  }

  #isFull(): boolean {
    this.#isPaused ||= this.log.unstoredBytes > unstoredBytesMax;
    return this.#isPaused;
  }

  #read(received: StreamEvent): void {
    if (this.#ending !== undefined) return;
    // A frame is an upstream's own text, which may be malformed. Every other event was written here.
    const isOwn = this.#hasBegun && !(received instanceof Frame);
    const renumbered = isOwn ? renumberEvent(received.data, this.log.next) : undefined;
    if (renumbered === undefined) return this.#readParsed(received);
    this.#output.add([received]);
    this.log.add(renumbered);
  }

  #readParsed(received: StreamEvent): void {
    const event = received.object();
    const type = textOf(event?.type);
    if (event === undefined || type === undefined) return;
    const response = objectOf(event.response);
    if (response !== undefined) this.#response = this.#own(response);
    if (!this.#hasBegun) this.#markBegun();
    if (openingTypes.has(type)) return;
    if (isTerminal(type)) return this.#endAs(type.slice('response.'.length) as ResponseStatus);
    this.#output.add([received]);
    this.#add(type, response === undefined ? event : { ...event, response: this.#response });
  }

  /** Gives a response of the call the id and the fields that the call does not have. */
  #own(response: JsonObject): JsonObject {
    const { queued } = this.#options;
    const { id, created_at, previous_response_id, background, store, conversation } = queued;
    const own = { id, created_at, previous_response_id, background, store };
    return { ...queued, ...response, ...own, ...(conversation === undefined ? {} : { conversation }) };
  }

  #markBegun(): void {
    this.#hasBegun = true;
    this.#response = { ...this.#response, status: 'in_progress' };
    const response = { ...this.#response, output: [], usage: null };
    this.#add('response.in_progress', { response });
    this.#enqueue(async () => {
      const leaseUntilMs = this.#nextLease();
      const { store } = this.#options;
      this.#noteLease(await store.saveResponse({ ...this.record, status: 'in_progress', response, leaseUntilMs }), leaseUntilMs);
    });
  }

  #endAs(status: ResponseStatus): void {
    const response: JsonObject = { ...this.#response, status };
    // A failed reply may not repeat its output.
    const output = objectsOf(response.output);
    this.#end(status === 'failed' && output.length === 0 ? { ...response, output: this.#output.items() } : response);
  }

  #replyEnded(): void {
    if (this.#ending === undefined) this.#fail({ code: 'server_error', message: 'The reply ended before the response did.' });
    this.reply.finish();
  }

  #fail(error: { readonly code: string; readonly message: string }): void {
    this.#end({ ...this.#response, status: 'failed', error, output: this.#output.items() });
  }

  #end(response: JsonObject): void {
    if (this.#ending !== undefined) return;
    this.#response = response;
    this.#ending = this.#settle(response);
  }

  /** Stores the end, and only then publishes it. */
  async #settle(response: JsonObject): Promise<void> {
    const { store, clock, logger } = this.#options;
    const { userName, id } = this.record;
    const storeByMs = clock.monotonicMs() + leaseMs;
    await this.#work;
    for (;;) {
      try {
        while (this.log.unstored().events.length > 0) await this.#storeEvents();
        const status = textOf(response.status) as ResponseStatus;
        if (await store.saveResponse({ ...this.record, status, response })) break;
        // Another process has ended it, and the stored state counts.
        this.#isLost = true;
        return this.#stop();
      } catch (error) {
        if (clock.monotonicMs() < storeByMs) {
          await new Promise((resolve) => setTimeout(resolve, retryMs));
          continue;
        }
        logger.error({ user: userName, responseId: id, err: error }, 'storing the end of a background response failed');
        this.#isLost = true;
        return this.#stop();
      }
    }
    await this.#options.conclude?.(response);
    this.log.add(endEvent(response, this.log.next));
    this.log.end();
    // If this fails, readers of the store find the end in the response itself.
    await this.#storeEvents().catch((error: unknown) =>
      logger.warn({ responseId: id, err: error }, 'storing the last event of a response failed'),
    );
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.log.end();
    this.reply.leave();
    this.#options.onOver(this);
    this.#over.resolve();
  }

  #tick(): void {
    if (this.#ending !== undefined) return;
    const { clock } = this.#options;
    if (clock.nowMs() > this.#leaseUntilMs) {
      // All other processes consider it failed by now.
      this.#fail({ code: 'server_error', message: 'The response could not be stored while it was generated.' });
      this.reply.leave();
      return;
    }
    if (this.#isStoring) return;
    if (clock.monotonicMs() >= this.#renewAtMs) this.#enqueue(() => this.#renew());
    if (this.log.unstored().events.length > 0) this.#enqueue(() => this.#storeEvents());
  }

  #enqueue(step: () => Promise<void>): void {
    this.#isStoring = true;
    const { logger } = this.#options;
    const work = this.#work
      .then(step)
      .catch((error: unknown) => logger.warn({ responseId: this.record.id, err: error }, 'storing a background response failed'))
      .then(() => {
        if (this.#work === work) this.#isStoring = false;
      });
    this.#work = work;
  }

  async #storeEvents(): Promise<void> {
    // A failed write may have succeeded. It is repeated unchanged, so that storing it twice changes nothing.
    this.#batch ??= this.log.unstored();
    const { first, events } = this.#batch;
    if (events.length > 0) await this.#options.store.appendEvents(this.record.userName, this.record.id, first, events);
    this.#batch = undefined;
    this.log.markStored(events.length);
    if (!this.#isPaused || this.log.unstoredBytes > unstoredBytesMax / 2) return;
    this.#isPaused = false;
    this.reply.resume();
  }

  /** Renews the lease. */
  async #renew(): Promise<void> {
    const untilMs = this.#nextLease();
    this.#noteLease(await this.#options.store.extendLease(this.record.userName, this.record.id, untilMs), untilMs);
  }

  /** @param isMine false if another process ended the response, or if it was deleted: the run is then over */
  #noteLease(isMine: boolean, untilMs: number): void {
    if (isMine) this.#leaseUntilMs = untilMs;
    else if (this.#ending === undefined) {
      this.#isLost = true;
      this.#ending = Promise.resolve();
      this.#stop();
    }
  }
}

/** Turns an HTTP error into the error of a response. */
function describeRefusal({ body }: WholeAnswer): { readonly code: string; readonly message: string } {
  const error = membersOf(parseJsonObject(body)?.error);
  return { code: textOf(error.code) ?? 'server_error', message: textOf(error.message) ?? 'The response could not be generated.' };
}
