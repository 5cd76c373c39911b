import type { PreparedCall } from './incoming-call.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { systemClock } from '../../../platform/clock.ts';
import { content, ending, opening, type StartedAttempts, startAttempts, succeed } from '../../attempts/retry/testing/fake-attempts.ts';
import { createRoutingTable } from '../../attempts/routing/routing-table.ts';
import { CallCredit } from '../../admission/credits/call-credit.ts';
import { boundChat } from './chat-credit.ts';
import { defaultCredits } from '../../settings/call-settings.ts';
import { FakeDesk } from '../../admission/credits/testing/fake-desk.ts';

const priceBook = createPriceBook({
  book: loadShippedPriceBook(),
  overrides: [{ model: 'm', input: '1000', output: '1000' }],
});
const input = { textBytes: 40, images: 0, files: 0, fileBytes: 0, offersTools: false };

/** A call with a hold. @throws GatewayError if the desk refuses it */
function holdFor(call: PreparedCall, desk: FakeDesk, settings: Partial<PreparedCall['settings']> = {}): PreparedCall {
  const upstreams = call.targets.map(({ upstream }) => upstream);
  const routing = createRoutingTable({ upstreams, models: [], priceBook, configuredAtMs: 0 });
  const priced = { ...call, settings: { ...call.settings, routing, ...settings } };
  const held = desk.hold(undefined, boundChat(priced, { input }));
  if (held instanceof Promise || !held.admitted) throw new GatewayError('insufficient_credit', 'no');
  const credit = new CallCredit(held, systemClock);
  credit.plan = { input };
  return { ...priced, credit };
}

const start = (desk: FakeDesk, settings?: Partial<PreparedCall['settings']>, names: readonly string[] = ['a', 'b']) =>
  startAttempts(names, { enrich: (call) => holdFor(call, desk, settings) });

const words = (count: number): string => {
  const text = 'x'.repeat(count);
  return `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
};

/** How a call can end, each with whether it is charged. */
const endings: Readonly<Record<string, { readonly run: (call: StartedAttempts) => Promise<void> | void; readonly costs: boolean }>> = {
  'it finishes': { run: succeed, costs: true },
  'it finishes at the second target': {
    run: async (call) => {
      call.refuse(500);
      await call.settle();
      await succeed(call);
    },
    costs: true,
  },
  'every target fails': {
    run: async (call) => {
      call.refuse(500);
      await call.settle();
      call.refuse(503);
      await call.settle(2000);
      call.refuse(500);
    },
    costs: false,
  },
  'the upstream refuses it': { run: (call) => call.refuse(400), costs: false },
  'the upstream fails before content': {
    run: async (call) => {
      call.answer(200);
      call.data(opening);
      call.breakOff('ECONNRESET');
      await call.settle();
      call.refuse(400);
    },
    costs: false,
  },
  'the upstream fails after content': {
    run: (call) => {
      call.answer(200);
      call.data(opening + content);
      call.breakOff('ECONNRESET');
    },
    costs: true,
  },
  'the client disconnects before any output': { run: (call) => call.response.destroy(), costs: false },
  'the client disconnects between two attempts': {
    run: (call) => {
      call.refuse(429, { 'retry-after': '1' });
      call.response.destroy();
    },
    costs: false,
  },
  'the client disconnects after content': {
    run: (call) => {
      call.answer(200);
      call.data(opening + content);
      call.response.destroy();
    },
    costs: true,
  },
  'the gateway ends it': {
    run: (call) => {
      call.answer(200);
      call.attempts.terminate(new GatewayError('shutting_down', 'bye'));
    },
    costs: false,
  },
};

describe('M5, M7: a hold ends once, however its call ends', () => {
  for (const [name, { run, costs }] of Object.entries(endings))
    test(`the hold ends once if ${name}`, async () => {
      const desk = new FakeDesk(10n ** 12n);
      const call = await start(desk);
      assert.equal(desk.open, 1);
      await run(call);
      await call.settle();
      assert.deepEqual([desk.open, desk.heldNanoUsd, call.entries.length], [0, 0n, 1]);
      const [entry] = call.entries;
      assert.ok(entry);
      assert.equal(desk.chargedNanoUsd, entry.charge.amountNanoUsd);
      assert.equal(desk.chargedNanoUsd > 0n, costs);
      assert.equal(desk.availableNanoUsd, 10n ** 12n - entry.charge.amountNanoUsd);
      assert.ok(BigInt(entry.heldNanoUsd ?? '-1') >= entry.charge.amountNanoUsd, 'the charge is at most the hold');
      assert.equal(entry.heldPots, 1);
    });

  test('F10, M7: after 10,000 failed, cancelled or finished calls, the available amount is the limit less the settled amounts', async () => {
    const limit = 10n ** 15n;
    const desk = new FakeDesk(limit);
    const runs = Object.values(endings);
    let settled = 0n;
    for (let at = 0; at < 10_000; at += 1) {
      const call = await start(desk);
      await runs[at % runs.length]?.run(call);
      await call.settle();
      for (const { charge } of call.entries) settled += charge.amountNanoUsd;
    }
    assert.deepEqual([desk.holds, desk.open, desk.heldNanoUsd], [10_000, 0, 0n]);
    assert.equal(desk.availableNanoUsd, limit - settled);
    await succeed(await start(desk));
  });

  test('a call that cannot be journalled releases its hold', async () => {
    const desk = new FakeDesk(10n ** 12n);
    let held: PreparedCall | undefined;
    const starting = startAttempts(['a'], { refusesOpening: () => true, enrich: (plain) => (held = holdFor(plain, desk)) });
    await assert.rejects(starting, { code: 'journal_unavailable' });
    // The request path does this with every error before the exchange.
    held?.credit?.end();
    assert.deepEqual([desk.open, desk.availableNanoUsd], [0, 10n ** 12n]);
  });
});

const usageCut = /"finish_reason":"length".*\[DONE\]/s;

describe('M6: a stream costs no more than is held for it', () => {
  const credits = { ...defaultCredits, outputTokensDefault: 100 };
  // Input of 40 + 256 tokens, output of 100 at first, at 1000 USD per million: a million nano-USD for each.
  const first = 396_000_000n;

  test('a stream extends its hold as it writes, and is cut properly if nothing is left', async () => {
    const desk = new FakeDesk(first + 100_000_000n);
    const call = await start(desk, { credits }, ['a']);
    call.answer(200);
    call.data(opening + words(90));
    assert.equal(desk.heldNanoUsd, first);
    call.data(words(20));
    assert.ok(desk.heldNanoUsd > first, 'the hold was extended');
    for (let at = 0; at < 20; at += 1) call.data(words(20));
    const [entry] = call.entries;
    assert.ok(entry);
    assert.deepEqual([entry.end, entry.stopReason, entry.errorCode], ['cut', 'cut: budget', undefined]);
    assert.ok(entry.charge.amountNanoUsd > 0n && entry.charge.amountNanoUsd <= first + 100_000_000n);
    assert.equal(call.sent[0]?.aborted, true);
    assert.match(Buffer.concat(call.response.chunks).toString(), usageCut);
    assert.equal(call.response.writableEnded, true);
    assert.deepEqual([desk.open, desk.heldNanoUsd], [0, 0n]);
  });

  test('many frames in one piece are cut at the frame that reaches the limit', async () => {
    const desk = new FakeDesk(first);
    const call = await start(desk, { credits }, ['a']);
    call.answer(200);
    call.data(opening + Array.from({ length: 50 }, () => words(10)).join(''));
    const text = Buffer.concat(call.response.chunks).toString();
    assert.equal([...text.matchAll(/x{10}/g)].length, 10);
    assert.match(text, usageCut);
  });

  test('the upstream pauses while the store is queried', async () => {
    const desk = new FakeDesk(first + 10n ** 9n);
    const call = await start(desk, { credits }, ['a']);
    call.answer(200);
    desk.isSlow = true;
    call.data(opening + words(120));
    await call.settle();
    assert.equal(call.entries.length, 0);
    desk.refusal = { admitted: false, reason: 'unavailable' };
    call.data(words(400));
    for (let turn = 0; turn < 10; turn += 1) await call.settle();
    assert.equal(call.entries[0]?.stopReason, 'cut: budget');
  });

  test('streams that may exceed their hold finish, and are booked at their cost', async () => {
    const desk = new FakeDesk(first);
    const call = await start(desk, { credits: { ...credits, exhausted: 'finish' } }, ['a']);
    call.answer(200);
    call.data(opening + words(900));
    call.data(ending);
    call.end();
    assert.deepEqual([call.entries[0]?.end, desk.open], ['finished', 0]);
  });

  test('an upstream that respects its limit is never cut', async () => {
    const desk = new FakeDesk(first);
    const bounded = (call: PreparedCall): PreparedCall =>
      holdFor({ ...call, facts: { ...call.facts, outputTokensMax: 100 } }, desk, { credits: { ...credits, outputTokensDefault: 1 } });
    const call = await startAttempts(['a'], { enrich: bounded });
    call.answer(200);
    call.data(opening + words(390));
    call.data(ending);
    call.end();
    assert.equal(call.entries[0]?.end, 'finished');
  });
});
