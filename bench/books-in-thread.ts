// The work of the gateway's own thread for the books of a call: `node bench/books-in-thread.ts`. It uses the real
// journal, metering, prices and credits, on the disk, without sockets and without the thread of the store, so that
// nothing else competes for the processor.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ApiKey } from '../src/accounts/api-key.ts';
import { createCreditDesk } from '../src/billing/credits/create-credit-desk.ts';
import { MemoryCreditStore } from '../src/billing/credits/testing/memory-credit-store.ts';
import { createJournal } from '../src/billing/journal/create-journal.ts';
import { createLostCallSettler } from '../src/billing/journal/settle-lost-call.ts';
import type { CallOpening } from '../src/billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../src/billing/rating/price-book.ts';
import { takeChatCredit } from '../src/gateway/endpoints/chat/chat-credit.ts';
import type { ExchangeObserver } from '../src/gateway/attempts/exchange/exchange-context.ts';
import { createFakeUpstream } from '../src/gateway/attempts/exchange/testing/fake-exchange.ts';
import { keepBooks, keepNoBooks } from '../src/gateway/attempts/books/settle.ts';
import { createReplyOwners } from '../src/gateway/endpoints/chat/responses/reply-owners.ts';
import { createRoutingTable } from '../src/gateway/attempts/routing/routing-table.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createIds } from '../src/platform/ids.ts';
import { silentLogger } from '../src/platform/log.ts';
import { joinEncoded } from '../src/store/operations/encoded-batch.ts';
import { lowerQuartile } from './measure-load.ts';

const [rounds, warmUpRounds, turnsPerRound, callsPerTurn] = [14, 3, 1000, 16];
const model = 'gpt-4.1';
const text = 'What does a river know of the sea that it has not seen yet? '.repeat(24);
const request = {
  operation: 'generate',
  body: { model, max_tokens: 300, messages: [{ role: 'user', content: text }] },
  headers: {},
} as const;
const rawUsage = { prompt_tokens: 400, completion_tokens: 200, total_tokens: 600, prompt_tokens_details: { cached_tokens: 100 } };
const usage = { inputTokens: 300, cacheReadTokens: 100, outputTokens: 200 };
const outcome = {
  end: 'finished',
  complete: true,
  report: {
    usageReport: { usage, raw: rawUsage, trustworthy: true },
    outputCharacters: 800,
    servedModel: 'gpt-4.1-2025-04-14',
    stopReason: 'stop',
  },
} as const;
const facts = { requestedModel: model, stream: false, outputTokensMax: 300, inputCharacters: text.length, needs: [] } as const;
const plainKey: ApiKey = {
  id: 'key_01k9s7h2m4n6p8q0r2t4v6w8x0',
  userId: 'usr_1',
  userName: 'admin',
  name: 'default',
  hint: '',
  createdAtMs: 0,
  strictTranslation: false,
};
const limitedKey: ApiKey = { ...plainKey, limits: { spendPerDay: '1000000' }, userLimits: { prepaid: true } };

const directory = mkdtempSync(join(tmpdir(), 'weir-books-'));
const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const { journal } = await createJournal({
  directory,
  // The copy for the store's thread is made here; bench/booking.ts measures the work of that thread.
  store: { appendEncoded: (entries) => Promise.resolve(joinEncoded(entries).lengths.length) },
  clock: systemClock,
  logger: silentLogger,
  settleLost: createLostCallSettler({ priceBook }),
});
const creditStore = new MemoryCreditStore();
creditStore.setLimits(`key:${limitedKey.id}`, limitedKey.limits);
creditStore.setLimits(`user:${limitedKey.userName}`, limitedKey.userLimits);
creditStore.pay(limitedKey.userName, 10n ** 15n);
const credits = createCreditDesk({
  store: creditStore,
  node: { nodeId: 'one', sessionId: 'first' },
  clock: systemClock,
  logger: silentLogger,
  ship: () => Promise.resolve(),
});
await credits.tick();
const upstream = createFakeUpstream({ vendor: 'openai' }, { send: () => {}, close: () => Promise.resolve() });
const targets = [{ upstream, upstreamModel: model }];
const routing = createRoutingTable({ upstreams: [upstream], models: [], priceBook, configuredAtMs: 0 });
const replyOwners = createReplyOwners({ store: { findReplyOwner: () => Promise.resolve(undefined) } });
const gateway = { journal, clock: systemClock, replyOwners, credits };
const settings = { routing };
/** As the gateway has it: a piece of the reply's head. */
const upstreamRequestId = Buffer.from('x-request-id: req_0123456789abcdef0123456789abcdef').toString('latin1').slice(14);
const silentReport = { settled: () => {}, ended: () => {} };
const createId = createIds(systemClock);

function openingOf(caller: ApiKey): CallOpening {
  return {
    callId: createId('req'),
    acceptedAtMs: systemClock.nowMs(),
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    dialect: 'openai-chat',
    requestedModel: model,
    upstream: upstream.id,
    vendor: 'openai',
    upstreamModel: model,
    stream: false,
    inputCharacters: text.length,
    priceVersion: priceBook.version,
  };
}

/** The rest of a call after its opening was written: the upstream answers in a later turn. */
function answer(observer: ExchangeObserver, then: () => void): void {
  setImmediate(() => {
    observer.head(200, upstreamRequestId);
    observer.settled(outcome, then);
  });
}

/** Books one call as the gateway does. Resolves when its reply may be sent. */
async function book(caller: ApiKey): Promise<void> {
  const opening = openingOf(caller);
  const { acceptedAtMs } = opening;
  const chat = { settings, caller, facts, targets, framing: undefined, acceptedAtMs, request, turn: undefined };
  const taken = takeChatCredit(gateway, chat, () => false);
  const credit = taken instanceof Promise ? await taken : taken;
  const opened = credit === undefined ? opening : { ...opening, ...credit.describe() };
  const startedMs = systemClock.monotonicMs();
  await new Promise<void>((resolve, reject) => {
    journal.open(opened, (refusal) => {
      if (refusal !== undefined) return reject(refusal);
      const observer = keepBooks({
        services: gateway,
        opening: opened,
        upstreamDialect: 'openai-chat',
        vendor: upstream.vendor,
        priceBook,
        keepsReply: false,
        startedMs,
        credit,
        report: silentReport,
        replyNotes: () => [],
      });
      answer(observer, resolve);
    });
  });
  credit?.end();
}

/** The same steps without books. */
const bookNothing = async (caller: ApiKey): Promise<void> => {
  openingOf(caller);
  await new Promise<void>((resolve) => setImmediate(() => answer(keepNoBooks(silentReport), () => setImmediate(resolve))));
};

/** µs of this thread's processor time per call. */
async function measure(step: (caller: ApiKey) => Promise<void>, caller: ApiKey): Promise<number> {
  const before = process.threadCpuUsage();
  for (let turn = 0; turn < turnsPerRound; turn += 1) await Promise.all(Array.from({ length: callsPerTurn }, () => step(caller)));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / (turnsPerRound * callsPerTurn);
}

const works = [
  { name: 'nothing', step: bookNothing, caller: plainKey, micros: [] as number[] },
  { name: 'journal, metering, prices, entry', step: book, caller: plainKey, micros: [] as number[] },
  { name: 'and a hold of a prepaid user with a daily limit', step: book, caller: limitedKey, micros: [] as number[] },
];
try {
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const { step, caller, micros } of works) {
      const measured = await measure(step, caller);
      if (round >= 0) micros.push(measured);
    }
  }
  const floor = lowerQuartile(works[0]?.micros ?? []);
  console.log(JSON.stringify(works.slice(1).map(({ name, micros }) => ({ name, micros: lowerQuartile(micros) - floor }))));
} finally {
  await credits.close();
  await journal.close();
  rmSync(directory, { recursive: true });
}
