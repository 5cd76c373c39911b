import fc from 'fast-check';
import { anyUnit } from '../../src/platform/testing/any-unit.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';

/** A plain finished call; tests change the members that they are about. */
export function createEntry(callId: string, changes: Partial<CallEntry> = {}): CallEntry {
  return {
    callId,
    acceptedAtMs: Date.UTC(2026, 0, 5),
    userName: 'alice',
    keyId: 'key-1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'm-flash',
    upstream: 'openai',
    vendor: 'openai',
    upstreamModel: 'm-flash-2026-01-01',
    stream: false,
    inputCharacters: 40,
    priceVersion: '2026-01-01',
    end: 'finished',
    upstreamStatus: 200,
    usage: { inputTokens: 10, outputTokens: 5 },
    estimated: false,
    durationMs: 120,
    charge: { amountNanoUsd: 1500n, lines: [{ meter: 'input', quantity: 10, unitPrice: '0.15', per: 1_000_000 }], priceId: 'm-flash' },
    ...changes,
  };
}

const counts = fc.oneof(fc.constant(0), fc.nat(100_000));
const usages = fc.record(
  {
    inputTokens: counts,
    cacheReadTokens: counts,
    cacheWrite5mTokens: counts,
    cacheWrite1hTokens: counts,
    outputTokens: counts,
    reasoningTokens: counts,
    webSearches: counts,
  },
  { requiredKeys: [], noNullPrototype: true },
);

const charges = fc.record(
  {
    amountNanoUsd: fc.bigInt({ min: 0n, max: 2n ** 56n }),
    lines: fc.array(
      fc.record(
        {
          meter: fc.constantFrom('input', 'output', 'cache_read'),
          quantity: fc.nat(),
          unitPrice: fc.constantFrom('3', '0.000125'),
          per: fc.constant(1_000_000),
          multipliers: fc.dictionary(fc.string({ maxLength: 8 }), fc.constantFrom('0.5', '2'), { noNullPrototype: true }),
        },
        { requiredKeys: ['meter', 'quantity', 'unitPrice', 'per'], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
    priceId: fc.string({ maxLength: 8 }),
  },
  { requiredKeys: ['amountNanoUsd', 'lines'], noNullPrototype: true },
);

/** Text as clients send it: any text in UTF-8 without NUL. */
const texts = fc.string({ unit: anyUnit, maxLength: 12 }).map((text) => text.replaceAll('\0', ''));

/**
 * Any parsed report of a vendor: without -0, which JSON cannot express, and without an own `__proto__`, which deepEqual
 * cannot compare.
 */
const rawUsages = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown);

/**
 * Entries of a few users, keys and models, so that many belong to one group. Every optional member is sometimes present
 * and sometimes absent.
 */
export function callEntries(options: {
  readonly prefix: string;
  readonly startMs: number;
  readonly spanMs: number;
  readonly max: number;
}): fc.Arbitrary<CallEntry[]> {
  const entry = fc.record(
    {
      acceptedAtMs: fc.nat(options.spanMs - 1).map((offset) => options.startMs + offset),
      userName: fc.constantFrom('alice', 'bob', 'Ångström'),
      keyId: fc.constantFrom('key-1', 'key-2'),
      keyName: fc.constantFrom('ci', 'CI', `o'brien`),
      dialect: fc.constantFrom('openai-chat', 'anthropic-messages'),
      requestedModel: fc.oneof(fc.constantFrom('m-flash', 'm-🐟', 'm-ﬁ'), texts),
      upstream: texts,
      vendor: texts,
      upstreamModel: texts,
      stream: fc.boolean(),
      inputCharacters: fc.nat(),
      priceVersion: texts,
      pricingParameters: fc.dictionary(fc.constantFrom('resolution', 'mode', '模型'), texts, { maxKeys: 3, noNullPrototype: true }),
      end: fc.constantFrom<CallEntry['end']>('finished', 'client-left', 'cut', 'failed', 'lost'),
      upstreamStatus: fc.integer({ min: 100, max: 599 }),
      upstreamRequestId: texts,
      servedModel: texts,
      stopReason: texts,
      serviceTier: texts,
      errorCode: texts,
      tags: fc.constantFrom('project=search', 'project=web', 'env=prod,project=web', 'env=dev'),
      team: fc.constantFrom({ id: 'team-1', name: 'research' }, { id: 'team-2', name: 'sales' }),
      usage: usages,
      rawUsage: rawUsages,
      estimated: fc.boolean(),
      durationMs: fc.double({ min: 0, max: 1e7, noNaN: true }).map((duration) => duration + 0),
      firstByteMs: fc.double({ min: 0, max: 1e7, noNaN: true }).map((duration) => duration + 0),
      charge: charges,
    },
    {
      noNullPrototype: true,
      requiredKeys: [
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
  return fc
    .array(entry, { maxLength: options.max })
    .map((entries) => entries.map((drawn, index): CallEntry => ({ ...drawn, callId: `${options.prefix}-${index}` })));
}
