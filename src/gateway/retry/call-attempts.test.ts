import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';

import type { ApiKey } from '../../accounts/api-key.ts';
import { type Journal, JournalUnavailableError } from '../../billing/journal/journal.ts';
import type { CallEntry, CallOpening } from '../../billing/ledger/call-entry.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { chatDialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { createDeadlines } from '../../platform/http/deadlines.ts';
import type { UpstreamHandler, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { silentLogger } from '../../platform/log.ts';
import type { IncomingCall } from '../call.ts';
import { createFakeExchange, createFakeUpstream } from '../exchange/fake-exchange.ts';
import type { Gateway } from '../gateway.ts';
import { createHealth } from '../health/create-health.ts';
import { defaultLimits, defaultRetries, defaultTimeouts, type RetrySettings } from '../limits.ts';
import { createLimiter } from '../limits/limiter.ts';
import { createRoutingTable, type Target } from '../routing/routing-table.ts';
import { CallAttempts, type RunningCall } from './call-attempts.ts';
import { createRetryBudget } from './retry-budget.ts';

const dialect = chatDialects['openai-chat'];
const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true };
const bytes = Buffer.from(JSON.stringify(body));
const opening = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const content = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const ending =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\ndata: [DONE]\n\n';
const caller: ApiKey = { id: 'k', name: 'key', hint: 'k', userId: 'u', userName: 'user', createdAtMs: 0, strictTranslation: false };

type Sent = { readonly to: string; readonly request: UpstreamRequest; readonly handler: UpstreamHandler; aborted: boolean };

/** A call to targets of which each is named after its upstream, with a journal that keeps everything and a clock that tests turn. */
async function start(
  names: readonly string[] = ['a', 'b', 'c'],
  options: Partial<RetrySettings> & { readonly refusesOpening?: (attempt: number) => boolean } = {},
) {
  const fake = createFakeExchange({ dialect, framing: 'sse', body });
  const { clock } = fake.context;
  const sent: Sent[] = [];
  const targets = names.map((name): Target => {
    const client = {
      send: (request: UpstreamRequest, handler: UpstreamHandler) => {
        const one: Sent = { to: name, request, handler, aborted: false };
        sent.push(one);
        handler.onRequestStart({ abort: () => (one.aborted = true), pause: () => {}, resume: () => {} });
      },
      close: () => Promise.resolve(),
    };
    return { upstream: { ...createFakeUpstream({}, client), id: name, credentialId: name }, upstreamModel: 'm' };
  });
  const openings: CallOpening[] = [];
  const entries: CallEntry[] = [];
  const journal: Journal = {
    open: (call, then) => {
      const refused = options.refusesOpening?.(openings.length + 1) === true;
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
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const deadlines = createDeadlines<RunningCall>({ clock, tickMs: 1_000_000 });
  const priceBook = createPriceBook({ book: loadShippedPriceBook() });
  const settings = {
    routing: createRoutingTable({ upstreams: targets.map(({ upstream }) => upstream), models: [], priceBook, configuredAtMs: 0 }),
    limits: defaultLimits,
    timeouts: defaultTimeouts,
    retries: { ...defaultRetries, ...options },
    validation: 'compatible',
  } as const;
  const gateway = {
    journal,
    clock,
    logger: silentLogger,
    deadlines,
    limiter: createLimiter({ clock }),
    health: createHealth({ clock, random: () => 0.5, logger: silentLogger }),
    retryBudget: createRetryBudget(),
    random: () => 0.5,
    replyOwners: { remember: () => {} },
    newId: () => 'id',
  } as unknown as Gateway;
  const call = {
    callId: 'req_1',
    dialect,
    operation: 'generate',
    queryKeys: [],
    request: { headers: {} },
    response: fake.response,
  } as unknown as IncomingCall;
  const facts = { requestedModel: 'm', stream: true, inputCharacters: 5, needs: [] };
  const known = {
    call,
    settings,
    caller,
    facts,
    framing: 'sse',
    targets,
    taken: undefined,
    acceptedAtMs: 0,
    startedMs: clock.monotonicMs(),
  } as const;
  const attempts = new CallAttempts(gateway, known, bytes);
  await attempts.start({ operation: 'generate', body, headers: {} }, bytes);
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
    /** Lets a planned attempt be written down and sent. */
    settle: async (ms = 0) => {
      attempts.check(fake.advance(ms));
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

async function succeed(call: Started): Promise<void> {
  call.answer(200);
  call.data(opening + content);
  call.data(ending);
  call.end();
  await call.settle();
}

function breakDown(call: Started, upstreamId: string): void {
  for (let failure = 0; failure < 5; failure += 1) {
    call.gateway.health.of({ upstreamId, credentialId: upstreamId, upstreamModel: 'm' }).begin().end({ type: 'failed' });
  }
}

describe('a call whose first target fails before it has said anything', () => {
  const failures: readonly (readonly [string, (call: Started) => void])[] = [
    ['refused connection', (call) => call.breakOff('ECONNREFUSED')],
    ['connect time-out', (call) => call.breakOff('CONNECT_TIMEOUT')],
    ['reset', (call) => call.breakOff('ECONNRESET')],
    ['500', (call) => call.refuse(500)],
    ['503', (call) => call.refuse(503)],
    ['529', (call) => call.refuse(529)],
    ['429 with a long wait', (call) => call.refuse(429, { 'retry-after': '60' })],
    ['401', (call) => call.refuse(401)],
    ['opened and cut', (call) => (call.answer(200), call.data(opening), call.breakOff('ECONNRESET'))],
    ['opened and an error event', (call) => (call.answer(200), call.data(`${opening}data: {"error":{"message":"busy","code":503}}\n\n`))],
    ['a page', (call) => (call.answer(200, { 'content-type': 'text/html' }), call.data('<p>'), call.end())],
  ];
  for (const [name, fail] of failures) {
    test(`${name}: the next one answers, the client sees nothing of it and is charged once`, async () => {
      const call = await start();
      fail(call);
      await call.settle();
      assert.equal(call.wire(), 'a b');
      await succeed(call);
      assert.equal(call.response.status, 200);
      assert.equal(call.response.text(), opening + content + ending);
      assert.equal(call.entries.length, 1);
      const [entry] = call.entries;
      assert.equal(entry?.upstream, 'b');
      assert.equal(entry?.end, 'finished');
      assert.deepEqual(entry?.usage, { inputTokens: 5, outputTokens: 1 });
      assert.deepEqual(
        entry?.failedAttempts?.map(({ upstream }) => upstream),
        ['a'],
      );
      assert.deepEqual(call.openings[1]?.failedAttempts, entry?.failedAttempts, 'the journal knew of it before the second was sent');
    });
  }

  test('the second request is the same as the first', async () => {
    const call = await start();
    call.refuse(503);
    await call.settle();
    assert.deepEqual(call.sent[1]?.request, call.sent[0]?.request);
  });
});

describe('what is not tried again', () => {
  test('F41: a stream that breaks after its first content', async () => {
    const call = await start();
    call.answer(200);
    call.data(opening + content);
    call.breakOff('ECONNRESET');
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries[0]?.end, 'cut');
    assert.match(call.response.text(), /terminated early/);
  });

  test('a request that the upstream calls wrong', async () => {
    for (const status of [400, 404, 413, 422]) {
      const call = await start();
      call.refuse(status);
      await call.settle(60_000);
      assert.equal(call.wire(), 'a', String(status));
      assert.equal(call.response.status, status);
    }
  });

  test('anything after the client has left', async () => {
    const call = await start();
    call.response.close();
    assert.equal(call.entries[0]?.end, 'failed');
    call.breakOff('ECONNRESET');
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries.length, 1);
  });

  test('what the gateway itself ends, when it shuts down', async () => {
    const call = await start();
    call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });
});

describe('F40: attempts have a bound', () => {
  test('three altogether, over the targets in order, and the last failure is the answer', async () => {
    const call = await start(['a', 'b', 'c', 'd']);
    for (const status of [503, 500, 529]) {
      call.refuse(status);
      await call.settle(10_000);
    }
    assert.equal(call.wire(), 'a b c');
    assert.equal(call.response.status, 529);
    assert.equal(call.entries.length, 1);
    assert.equal(call.entries[0]?.end, 'failed');
    assert.equal(call.entries[0]?.charge.amountNanoUsd, 0n);
    assert.equal(call.entries[0]?.failedAttempts?.length, 2);
  });

  test('a single target is tried again after a while, not at once', async () => {
    const call = await start(['a']);
    call.refuse(503);
    await call.settle(1);
    assert.equal(call.wire(), 'a');
    await call.settle(5000);
    assert.equal(call.wire(), 'a a');
    await succeed(call);
    assert.equal(call.entries[0]?.end, 'finished');
  });

  test('a single target that says when to come again is asked then, or its answer goes on', async () => {
    const soon = await start(['a']);
    soon.refuse(429, { 'retry-after': '2' });
    await soon.settle(1500);
    assert.equal(soon.wire(), 'a');
    await soon.settle(1000);
    assert.equal(soon.wire(), 'a a');
    const late = await start(['a']);
    late.refuse(429, { 'retry-after': '30' });
    await late.settle(60_000);
    assert.equal(late.wire(), 'a');
    assert.equal(late.response.status, 429);
    assert.equal(late.response.headers['retry-after'], '30');
  });

  test('F67: without budget the failure is the answer', async () => {
    const call = await start();
    while (call.gateway.retryBudget.take('b', 10, 1000) !== undefined);
    call.refuse(503);
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });

  test('an operator can have fewer', async () => {
    const call = await start(['a', 'b'], { attemptsMax: 1 });
    call.refuse(503);
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });

  test('a target that is out of use is not the next one, unless the operator wants it asked all the same', async () => {
    const insistent = await start(['a', 'b', 'c'], { avoidFailing: false });
    breakDown(insistent, 'b');
    insistent.refuse(503);
    await insistent.settle();
    assert.equal(insistent.wire(), 'a b');
    const call = await start();
    breakDown(call, 'b');
    call.refuse(503);
    await call.settle();
    assert.equal(call.wire(), 'a c');
  });
});

describe('between two attempts', () => {
  test('the client leaves: the call is settled once, and nothing more is sent', async () => {
    const call = await start(['a']);
    call.refuse(503);
    call.response.close();
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.deepEqual(
      call.entries.map(({ end }) => end),
      ['failed'],
    );
  });

  test('the gateway shuts down: the client is told so', async () => {
    const call = await start(['a']);
    call.refuse(503);
    call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries.length, 1);
    assert.match(call.response.text(), /stop/);
  });

  test('the books cannot be kept: the failure of the former attempt is the answer', async () => {
    const call = await start(['a', 'b'], { refusesOpening: (attempt) => attempt === 2 });
    call.refuse(529);
    await call.settle();
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 529);
    assert.equal(call.entries.length, 1);
    assert.equal(call.entries[0]?.upstream, 'a');
  });

  test('another target refuses what the first would have taken: the first failure is the truth', async () => {
    const call = await start();
    call.refuse(503);
    await call.settle();
    call.refuse(400);
    await call.settle();
    assert.equal(call.response.status, 503);
    assert.equal(call.entries.length, 1);
  });
});

test('whatever happens in whatever order, a call is settled once, answered once, and sent at most three times', async () => {
  const step = fc.constantFrom('reset', '503', '429', '401', '400', 'open', 'content', 'end', 'leave', 'wait', 'tick', 'error', 'stop');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 3 }), async (steps, count) => {
      const call = await start(['a', 'b', 'c'].slice(0, count));
      const live = (): boolean => !call.response.writableEnded && !call.response.destroyed;
      let opened = 0;
      for (const each of steps) {
        const isFresh = opened < call.sent.length;
        if (each === 'leave') call.response.close();
        else if (each === 'stop') call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
        else if (each === 'wait') await call.settle(20_000);
        else if (each === 'tick') await call.settle(1);
        else if (!live()) continue;
        else if (each === 'reset') call.breakOff('ECONNRESET');
        else if (/^\d/.test(each) && isFresh) call.refuse(Number(each));
        else if (each === 'open' && isFresh) ((opened = call.sent.length), call.answer(200), call.data(opening));
        else if (!isFresh && each === 'content') call.data(content);
        else if (!isFresh && each === 'error') call.data('data: {"error":{"message":"busy","code":503}}\n\n');
        else if (!isFresh && each === 'end') call.end();
        await call.settle();
      }
      call.response.close();
      await call.settle(4_000_000);
      assert.equal(call.entries.length, 1);
      assert.ok(call.sent.length <= 3, call.wire());
      const heads = call.happened.filter((each) => each.startsWith('head')).length;
      assert.ok(heads <= 1);
    }),
    { numRuns: 300 },
  );
});
