import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type CallEntry, type CallOpening, isBilled } from '../../../billing/ledger/call-entry.ts';
import type { PriceBook, RatedCall } from '../../../billing/rating/rating.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { upstreamVendors } from '../../../upstreams/registry.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { Outcome } from '../exchange/exchange-context.ts';
import { correctReport, keepBooks, settleCall } from './settle.ts';

const opening: CallOpening = {
  callId: 'req_1',
  acceptedAtMs: 1000,
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'ci',
  dialect: 'openai-chat',
  requestedModel: 'fast',
  upstream: 'one',
  vendor: 'xai',
  upstreamModel: 'grok',
  stream: true,
  inputCharacters: 400,
  priceVersion: 'v1',
};

const report: ReplyReport = {
  usageReport: { usage: { inputTokens: 10, outputTokens: 5 }, raw: { prompt_tokens: 10 }, trustworthy: true, serviceTier: 'flex' },
  servedModel: 'grok-1',
  replyId: 'resp_1',
  stopReason: 'stop',
  outputCharacters: 20,
};

function prices() {
  const rated: RatedCall[] = [];
  const priceBook: PriceBook = {
    version: 'v1',
    models: () => [],
    lists: () => false,
    prices: () => false,
    unlisted: 'free',
    parametersOf: () => [],
    rateTools: () => ({ amountNanoUsd: 0n, lines: [] }),
    bound: () => ({ minimumNanoUsd: 0n, expectedNanoUsd: 0n, maximumNanoUsd: 0n }),
    most: () => 0n,
    rate: (call) => {
      rated.push(call);
      return { amountNanoUsd: BigInt(call.usage.outputTokens ?? 0), lines: [] };
    },
  };
  return { priceBook, rated };
}

const settle = (outcome: Outcome, upstreamStatus: number | null = 200, keepsReply = false) => {
  const { priceBook, rated } = prices();
  const trace = { durationMs: 7, ...(upstreamStatus === null ? {} : { upstreamStatus }) };
  return { entry: settleCall(opening, outcome, trace, { priceBook, keepsReply }), rated };
};

describe('the entry of a call has its usage and its charge', () => {
  test('a finished call is booked as reported, with the names and the tier of its price', () => {
    const { entry, rated } = settle({ end: 'finished', complete: true, report });
    assert.deepEqual(entry.usage, { inputTokens: 10, outputTokens: 5 });
    assert.equal(entry.estimated, false);
    assert.equal(entry.end, 'finished');
    assert.equal(entry.charge.amountNanoUsd, 5n);
    assert.deepEqual([entry.servedModel, entry.stopReason, entry.serviceTier, entry.durationMs], ['grok-1', 'stop', 'flex', 7]);
    assert.deepEqual(rated, [
      {
        vendor: 'xai',
        upstreamModel: 'grok',
        requestedModel: 'fast',
        acceptedAtMs: 1000,
        userName: opening.userName,
        keyId: opening.keyId,
        usage: { inputTokens: 10, outputTokens: 5 },
        serviceTier: 'flex',
        pricingParameters: undefined,
      },
    ]);
    for (const [name, value] of Object.entries(opening)) assert.deepEqual(entry[name as keyof CallEntry], value, name);
    assert.equal('errorCode' in entry, false);
  });

  test('a client that disconnects before any answer pays nothing: the call failed', () => {
    const { entry } = settle({ end: 'client-left', complete: false }, null);
    assert.equal(entry.end, 'failed');
    assert.deepEqual(entry.usage, {});
    assert.equal(entry.charge.amountNanoUsd, 0n);
    assert.equal(isBilled(entry), false);
  });

  test('a client that disconnects during an answer pays an estimate of it', () => {
    const { entry } = settle({ end: 'client-left', complete: false, report: { outputCharacters: 20 } });
    assert.equal(entry.end, 'client-left');
    assert.equal(entry.estimated, true);
    assert.deepEqual(entry.usage, { inputTokens: 100, outputTokens: 5 });
    assert.equal(isBilled(entry), true);
  });

  test('a failed call is free, whatever its upstream reported', () => {
    const error = new GatewayError('upstream_timeout', 'late');
    const { entry } = settle({ end: 'failed', complete: false, report, error });
    assert.deepEqual(entry.usage, {});
    assert.equal(entry.charge.amountNanoUsd, 0n);
    assert.equal(entry.errorCode, 'upstream_timeout');
    assert.equal(isBilled(entry), false);
  });

  test('the id of a reply is stored only if the upstream stores the reply, and only up to a length', () => {
    assert.equal('replyId' in settle({ end: 'finished', complete: true, report }).entry, false);
    assert.equal(settle({ end: 'finished', complete: true, report }, 200, true).entry.replyId, 'resp_1');
    const long = settle({ end: 'finished', complete: true, report: { ...report, replyId: 'r'.repeat(9999) } }, 200, true);
    assert.ok((long.entry.replyId?.length ?? 0) <= 256);
  });

  test('a reply without usage leaves nothing undefined in the entry', () => {
    const { entry } = settle({ end: 'finished', complete: true, report: { outputCharacters: 0 } });
    for (const [name, value] of Object.entries(entry)) assert.notEqual(value, undefined, name);
  });
});

/** A vendor whose chat completions count reasoning beside the output. */
const besideVendor: UpstreamVendor = {
  ...upstreamVendors.openai,
  correctUsage: (given, dialect) => {
    const { outputTokens = 0, reasoningTokens = 0 } = given.usage;
    return dialect === 'openai-chat' ? { ...given, usage: { ...given.usage, outputTokens: outputTokens + reasoningTokens } } : given;
  },
};

describe('a vendor that counts differently is corrected', () => {
  const { openai } = upstreamVendors;
  const reasoning: ReplyReport = {
    outputCharacters: 1,
    usageReport: { usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 20 }, raw: {}, trustworthy: true },
  };
  const output = (corrected: ReplyReport): number | undefined => corrected.usageReport?.usage.outputTokens;

  test('by its own rule for the dialect', () => {
    assert.equal(output(correctReport(reasoning, besideVendor, 'openai-chat')), 25);
  });

  test('other interfaces and other vendors count as their dialect says', () => {
    assert.equal(output(correctReport(reasoning, besideVendor, 'openai-responses')), 5);
    assert.equal(output(correctReport(reasoning, openai, 'openai-chat')), 5);
    const none: ReplyReport = { outputCharacters: 1 };
    assert.equal(correctReport(none, besideVendor, 'openai-chat'), none);
  });
});

describe('the books of a running call follow its exchange', () => {
  function keep(keepsReply = false) {
    const written: unknown[] = [];
    const entries: CallEntry[] = [];
    const remembered: CallEntry[] = [];
    const told: unknown[] = [];
    let nowMs = 5000;
    const observer = keepBooks({
      services: {
        journal: {
          open: () => {},
          head: (id, head) => void written.push(['head', id, head]),
          progress: (id, progress) => void written.push(['progress', id, progress]),
          done: (entry) => void entries.push(entry),
          unavailableReason: () => undefined,
          pendingEntries: () => 0,
          drain: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
        clock: { nowMs: () => -1, monotonicMs: () => nowMs },
        replyOwners: {
          remember: (entry) => void remembered.push(entry),
        },
      },
      opening,
      upstreamDialect: 'openai-chat',
      replyNotes: () => [],
      report: { settled: (entry, error) => void told.push([entry.end, error?.code, error?.internal]) },
      vendor: besideVendor,
      priceBook: prices().priceBook,
      keepsReply,
      startedMs: 4000,
    });
    return { observer, written, entries, remembered, told, advance: (ms: number) => void (nowMs += ms) };
  }

  test('the entry contains the status, the id and the times of the exchange', () => {
    const books = keep();
    books.observer.head(200, 'up_1');
    books.advance(50);
    books.observer.firstContent();
    books.advance(450);
    books.observer.settled({ end: 'finished', complete: true, report });
    const [entry] = books.entries;
    assert.deepEqual([entry?.upstreamStatus, entry?.upstreamRequestId, entry?.firstByteMs, entry?.durationMs], [200, 'up_1', 1050, 1500]);
    assert.deepEqual(books.told, [['finished', undefined, undefined]]);
  });

  test('progress and end are corrected in the same way', () => {
    const books = keep();
    const beside: ReplyReport = {
      outputCharacters: 9,
      usageReport: { usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 20 }, raw: {}, trustworthy: true },
    };
    books.observer.head(200, undefined);
    books.observer.progress(beside);
    books.observer.progress({ outputCharacters: 12 });
    books.observer.settled({ end: 'finished', complete: true, report: beside });
    assert.deepEqual(books.written.at(-2), [
      'progress',
      'req_1',
      { usage: { inputTokens: 10, outputTokens: 25, reasoningTokens: 20 }, outputCharacters: 9 },
    ]);
    assert.deepEqual(books.written.at(-1), ['progress', 'req_1', { outputCharacters: 12 }]);
    assert.equal(books.entries[0]?.usage.outputTokens, 25);
  });

  test('an unanswered call is booked as failed, with its error', () => {
    const books = keep();
    books.observer.settled({
      end: 'failed',
      complete: false,
      error: new GatewayError('upstream_timeout', 'late', { internal: 'one: late' }),
    });
    assert.equal(books.entries[0]?.end, 'failed');
    assert.deepEqual(books.told, [['failed', 'upstream_timeout', 'one: late']]);
  });

  test('a reply that the upstream stores is remembered for its user', () => {
    const books = keep(true);
    books.observer.head(200, undefined);
    books.observer.settled({ end: 'finished', complete: true, report });
    assert.deepEqual(books.remembered, books.entries);
    assert.equal(books.entries[0]?.replyId, 'resp_1');
  });
});
