import { ChatJob } from '../../../endpoints/chat/chat-job.ts';
import type { PreparedCall } from '../../../endpoints/chat/incoming-call.ts';
import { createByteForm } from '../../../endpoints/chat/reply-form.ts';
import type { ApiKey } from '../../../../accounts/api-key.ts';
import { type Journal, JournalUnavailableError } from '../../../../billing/journal/journal.ts';
import type { CallEntry, CallOpening } from '../../../../billing/ledger/call-entry.ts';
import { createPriceBook } from '../../../../billing/rating/price-book.ts';
import { loadShippedPriceBook } from '../../../../billing/rating/load-shipped-price-book.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { createDeadlines } from '../../../../platform/http/deadlines.ts';
import type { UpstreamHandler, UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { silentLogger } from '../../../../platform/log.ts';
import { DrainSlots } from '../../exchange/client-disconnect.ts';
import { createFakeExchange, createFakeUpstream, type FakeExchange } from '../../exchange/testing/fake-exchange.ts';
import type { Gateway } from '../../../endpoints/gateway.ts';
import { createHealth } from '../../health/create-health.ts';
import { defaultLimits, defaultOverload, defaultRetries, defaultTimeouts, type RetrySettings } from '../../../settings/limits.ts';
import { createLimiter } from '../../../admission/limits/limiter.ts';
import { createRoutingTable } from '../../routing/routing-table.ts';
import type { Target } from '../../routing/target.ts';
import type { CallStart } from '../../../telemetry/call-report.ts';
import { createTelemetry } from '../../../telemetry/telemetry.ts';
import { defaultVideoSettings } from '../../../settings/call-settings.ts';
import { CallAttempts } from '../../call-attempts.ts';
import type { CallJob } from '../../call-job.ts';
import type { RunningCall } from '../../services.ts';
import { createRetryBudget } from '../retry-budget.ts';

const dialect = chatDialects['openai-chat'];
const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true };
const bytes = Buffer.from(JSON.stringify(body));
export const opening = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
export const content = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
export const ending =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\ndata: [DONE]\n\n';
const caller: ApiKey = { id: 'k', name: 'key', hint: 'k', userId: 'u', userName: 'user', createdAtMs: 0, strictTranslation: false };

export type Sent = { readonly to: string; readonly request: UpstreamRequest; readonly handler: UpstreamHandler; aborted: boolean };

export function createTarget(name: string, sent: Sent[]): Target {
  const client = {
    send: (request: UpstreamRequest, handler: UpstreamHandler) => {
      const one: Sent = { to: name, request, handler, aborted: false };
      sent.push(one);
      handler.onRequestStart({ abort: () => (one.aborted = true), pause: () => {}, resume: () => {} });
    },
    close: () => Promise.resolve(),
  };
  return { upstream: { ...createFakeUpstream({}, client), id: name.replace(/#.*$/, ''), credentialId: name }, upstreamModel: 'm' };
}

export function createMemoryJournal(openings: CallOpening[], entries: CallEntry[], refusesOpening?: (attempt: number) => boolean): Journal {
  return {
    open: (call, then) => {
      const refused = refusesOpening?.(openings.length + 1) === true;
      if (!refused) openings.push(call);
      queueMicrotask(() => then?.(refused ? new JournalUnavailableError('full') : undefined));
    },
    head: () => {},
    progress: () => {},
    done: (entry, then) => {
      entries.push(entry);
      then?.();
    },
    unavailableReason: () => undefined,
    pendingEntries: () => 0,
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

export function createGateway(clock: Clock, journal: Journal): Gateway {
  const gateway = {
    journal,
    clock,
    logger: silentLogger,
    deadlines: createDeadlines<RunningCall>({ clock, tickMs: 1_000_000 }),
    limiter: createLimiter({ clock }),
    health: createHealth({ clock, random: () => 0.5, logger: silentLogger }),
    retryBudget: createRetryBudget(),
    random: () => 0.5,
    replyOwners: { remember: () => {} },
    newId: () => 'id',
    drainSlots: new DrainSlots(),
    telemetry: createTelemetry({ clock, logger: silentLogger }),
  };
  return gateway as unknown as Gateway;
}

export function createKnownCall(
  { response, context: { clock } }: FakeExchange,
  targets: readonly Target[],
  retries: RetrySettings,
): PreparedCall {
  const routing = createRoutingTable({ upstreams: targets.map(({ upstream }) => upstream), models: [], priceBook, configuredAtMs: 0 });
  const call = { callId: 'req_1', dialect, operation: 'generate', queryKeys: [], request: { headers: {} }, response };
  return {
    call: call as unknown as PreparedCall['call'],
    callId: call.callId,
    label: call.dialect.id,
    settings: {
      routing,
      limits: defaultLimits,
      timeouts: defaultTimeouts,
      retries,
      overload: defaultOverload,
      validation: 'compatible',
      responseRetentionDays: 30,
      videos: defaultVideoSettings,
    },
    caller,
    facts: { requestedModel: 'm', stream: true, inputCharacters: 5, needs: [] },
    framing: 'sse',
    targets,
    taken: undefined,
    admission: { releaseBytes: () => {} },
    acceptedAtMs: 0,
    startedMs: clock.monotonicMs(),
    report: createTelemetry({ clock, logger: silentLogger }).begin(call as unknown as CallStart),
  };
}

/**
 * A call to targets named after their upstreams, with a credential after a `#`, a journal that stores everything, and a
 * clock that tests control.
 */
export async function startAttempts(
  names: readonly string[] = ['a', 'b', 'c'],
  options: Partial<RetrySettings> & {
    readonly refusesOpening?: (attempt: number) => boolean;
    /** Upstreams that cannot take the request. */
    readonly unfit?: readonly string[];
    /** The failures that another attempt may follow. */
    readonly mayFollow?: CallJob['mayFollow'];
    /** Adds further facts to the call. */
    readonly enrich?: (known: PreparedCall) => PreparedCall;
  } = {},
) {
  const fake = createFakeExchange({ dialect, framing: 'sse', body });
  const { clock } = fake.context;
  const sent: Sent[] = [];
  const targets = names.map((name) => createTarget(name, sent));
  const openings: CallOpening[] = [];
  const entries: CallEntry[] = [];
  const journal = createMemoryJournal(openings, entries, options.refusesOpening);
  const gateway = createGateway(clock, journal);
  const plain = createKnownCall(fake, targets, { ...defaultRetries, ...options });
  const known = options.enrich?.(plain) ?? plain;
  const request = { operation: 'generate', body, headers: {} } as const;
  const job: ChatJob & { mayFollow?: NonNullable<CallJob['mayFollow']> } = new ChatJob(gateway, known, createByteForm(dialect, 'sse'), {
    request,
    bytes,
  });
  const plan = job.plan.bind(job);
  job.plan = (target) => {
    if (options.unfit?.includes(target.upstream.id) === true) throw new GatewayError('untranslatable_field', 'not here');
    return plan(target);
  };
  if (options.mayFollow !== undefined) job.mayFollow = options.mayFollow;
  const attempts = new CallAttempts(gateway, known, job, fake.context.sink);
  await attempts.start();
  const last = (): Sent => {
    const found = sent.at(-1);
    if (found === undefined) throw new Error('nothing was sent');
    return found;
  };
  const controller = fake.controller;
  return {
    ...fake,
    attempts,
    gateway,
    sent,
    openings,
    entries,
    wire: () => sent.map(({ to }) => to).join(' '),
    breakOff: (code: string) => last().handler.onResponseError(controller, Object.assign(new Error(code), { code })),
    answer: (
      status: number,
      headers: Record<string, string> = { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' },
    ) => last().handler.onResponseStart(controller, status, headers),
    data: (text: string) => last().handler.onResponseData(controller, Buffer.from(text)),
    end: () => last().handler.onResponseEnd(controller),
    refuse: (status: number, headers: Record<string, string> = {}) => {
      const { handler } = last();
      handler.onResponseStart(controller, status, { 'content-type': 'application/json', ...headers });
      handler.onResponseData(controller, Buffer.from(`{"error":{"message":"status ${status}"}}`));
      handler.onResponseEnd(controller);
    },
    /** Lets a planned attempt be recorded and sent. */
    settle: async (ms = 0) => {
      attempts.check(fake.advance(ms));
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

export type StartedAttempts = Awaited<ReturnType<typeof startAttempts>>;

/** The last attempt answers completely. */
export async function succeed(call: StartedAttempts): Promise<void> {
  call.answer(200);
  call.data(opening + content);
  call.data(ending);
  call.end();
  await call.settle();
}

/** Lets a target fail until it is avoided. */
export function breakDown(call: StartedAttempts, upstreamId: string): void {
  for (let failure = 0; failure < 5; failure += 1) {
    call.gateway.health
      .of({ upstreamId, credentialId: upstreamId, upstreamModel: 'm' })
      .begin()
      .end({ type: 'failed', cause: 'connection' });
  }
}
