import type { CallEntry } from '../src/billing/ledger/call-entry.ts';
import { encodeForStore, joinEncoded } from '../src/store/operations/encoded-batch.ts';
import type { EncodedBatch } from '../src/store/worker/store-protocol.ts';
import { createIds } from '../src/platform/ids.ts';

/** Which calls a batch holds. */
export type BookedCalls = {
  readonly name: string;
  readonly users: number;
  readonly modelsPerUser: number;
  /** Rows of a batch, as the journal ships them. */
  readonly rows: number;
  /** Bits of the pots that each call's reserve came from; 0 where nothing limits its payer. */
  readonly heldPots: number;
};

/** What a gateway under load ships: one key of a load test, and the calls of many users. */
export const bookedCalls: readonly BookedCalls[] = [
  { name: 'one key, 500 rows', users: 1, modelsPerUser: 1, rows: 500, heldPots: 0 },
  { name: 'one key with limits, 500 rows', users: 1, modelsPerUser: 1, rows: 500, heldPots: 6 },
  { name: 'one key, 50 rows', users: 1, modelsPerUser: 1, rows: 50, heldPots: 0 },
  { name: '20 users, 3 models each, 500 rows', users: 20, modelsPerUser: 3, rows: 500, heldPots: 0 },
  { name: '20 users, a call each, with limits', users: 20, modelsPerUser: 1, rows: 20, heldPots: 6 },
];

const nanoUsdOfCall = 4_650_000;
/** Calls a second that a batch's moments are spread by. */
const callsPerSecond = 5000;

function createEntry(callId: string, acceptedAtMs: number, index: number, { users, modelsPerUser, heldPots }: BookedCalls): CallEntry {
  const user = index % users;
  const model = `model-${Math.floor(index / users) % modelsPerUser}-2026-01-01`;
  const tokens = 800 + (index % 100);
  return {
    callId,
    acceptedAtMs,
    userName: `user-${user}`,
    keyId: `key_01k9s7h2m4n6p8q0r2t4v6w8${String(user).padStart(2, '0')}`,
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: model,
    upstream: 'openai',
    vendor: 'openai',
    upstreamModel: model,
    stream: false,
    inputCharacters: 1500,
    priceVersion: '2026-01-01',
    ...(heldPots === 0 ? {} : { heldNanoUsd: '20000000', heldPots }),
    end: 'finished',
    upstreamStatus: 200,
    upstreamRequestId: `req_${callId}`,
    servedModel: model,
    stopReason: 'stop',
    usage: { inputTokens: tokens, outputTokens: 150 },
    rawUsage: { prompt_tokens: tokens, completion_tokens: 150, total_tokens: tokens + 150, prompt_tokens_details: { cached_tokens: 0 } },
    estimated: false,
    durationMs: 812.25,
    firstByteMs: 700.5,
    charge: {
      amountNanoUsd: BigInt(nanoUsdOfCall + index),
      lines: [
        { meter: 'input', quantity: tokens, unitPrice: '2.5', per: 1_000_000 },
        { meter: 'output', quantity: 150, unitPrice: '10', per: 1_000_000 },
      ],
      priceId: 'model',
    },
  };
}

/** Batches of calls that follow each other in time, encoded as the journal hands them over. */
export function createBatches(calls: BookedCalls, count: number, startMs: number): readonly EncodedBatch[] {
  let nowMs = startMs;
  const createId = createIds({ nowMs: () => Math.floor(nowMs), monotonicMs: () => nowMs });
  return Array.from({ length: count }, () => {
    const entries = Array.from({ length: calls.rows }, (_, index) => {
      nowMs += 1000 / callsPerSecond;
      return encodeForStore(createEntry(createId('req'), Math.floor(nowMs), index, calls));
    });
    return joinEncoded(entries);
  });
}
