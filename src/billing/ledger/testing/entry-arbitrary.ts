import fc from 'fast-check';

import { anyUnit } from '../../../platform/testing/any-unit.ts';
import type { CallEntry } from '../call-entry.ts';

const text = fc.string({ unit: anyUnit, maxLength: 300 });
const count = fc.nat();
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined });

const line = fc.record(
  { meter: text, quantity: count, unitPrice: text, per: count, multipliers: fc.dictionary(text, text) },
  { requiredKeys: ['meter', 'quantity', 'unitPrice', 'per'] },
);
/** Any valid entry, for property tests. */
export const entries: fc.Arbitrary<CallEntry> = fc.record(
  {
    callId: text,
    acceptedAtMs: count,
    userName: text,
    keyId: text,
    keyName: text,
    dialect: text,
    requestedModel: text,
    upstream: text,
    vendor: text,
    upstreamModel: text,
    stream: fc.boolean(),
    tags: fc.constantFrom('project=search', 'env=prod,project=web search', 'a=1'),
    inputCharacters: count,
    priceVersion: text,
    translation: fc.record({ upstreamDialect: text, notes: fc.constant([]) }),
    heldNanoUsd: fc.bigInt({ min: 0n, max: 2n ** 63n }).map(String),
    heldPots: fc.integer({ min: 1, max: 127 }),
    parentCallId: text,
    pricingParameters: fc.dictionary(text, text, { maxKeys: 3 }),
    toolUsage: fc.record({ webSearches: count, fileSearches: count, codeExecutions: count, pagesRead: count }, { requiredKeys: [] }),
    failedAttempts: fc.array(
      fc.record(
        {
          upstream: text,
          credential: text,
          upstreamModel: text,
          upstreamStatus: count,
          upstreamRequestId: text,
          errorCode: text,
          durationMs: count,
        },
        { requiredKeys: ['upstream', 'credential', 'upstreamModel', 'errorCode', 'durationMs'] },
      ),
      { minLength: 1, maxLength: 2 },
    ),
    end: fc.constantFrom('finished', 'client-left', 'cut', 'failed', 'lost'),
    upstreamStatus: count,
    upstreamRequestId: text,
    servedModel: text,
    replyId: text,
    stopReason: text,
    serviceTier: text,
    replyParameters: fc.dictionary(text, text, { maxKeys: 2 }),
    errorCode: text,
    usage: fc.record({ inputTokens: count, outputTokens: count }, { requiredKeys: [] }),
    rawUsage: maybe(fc.jsonValue()),
    estimated: fc.boolean(),
    disconnect: fc.record({
      policy: fc.constantFrom('abort', 'drain', 'deliver'),
      leftAfterMs: count,
      deliveredCharacters: count,
      upstreamEndedAfterMs: count,
      usageReported: fc.boolean(),
    }),
    durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    firstByteMs: count,
    charge: fc.record(
      { amountNanoUsd: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), lines: fc.array(line, { maxLength: 3 }), priceId: text },
      { requiredKeys: ['amountNanoUsd', 'lines'] },
    ),
  },
  {
    requiredKeys: [
      'callId',
      'acceptedAtMs',
      'userName',
      'keyId',
      'keyName',
      'dialect',
      'requestedModel',
      'upstream',
      'vendor',
      'upstreamModel',
      'stream',
      'inputCharacters',
      'priceVersion',
      'end',
      'usage',
      'estimated',
      'durationMs',
      'charge',
    ],
  },
);
