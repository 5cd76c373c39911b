import fc from 'fast-check';

import type { CallEntry, ChargeLine } from '../../ledger/call-entry.ts';
import { entries } from '../../ledger/testing/entry-arbitrary.ts';
import { recomputeAmount } from '../../rating/recompute-amount.ts';

const count = fc.nat();
const word = fc.stringMatching(/^[a-z][a-z0-9_:]{0,12}$/);

const decimal = fc
  .tuple(fc.nat({ max: 999 }), fc.option(fc.stringMatching(/^[0-9]{1,12}$/), { nil: undefined }))
  .map(([whole, decimals]) => (decimals === undefined ? String(whole) : `${whole}.${decimals}`));

const lines: fc.Arbitrary<ChargeLine[]> = fc.array(
  fc.record(
    {
      meter: word,
      quantity: count,
      unitPrice: decimal,
      per: fc.constantFrom(1, 60, 1000, 1_000_000, 7),
      multipliers: fc.dictionary(word, decimal, { maxKeys: 2 }),
      formula: word,
    },
    { requiredKeys: ['meter', 'quantity', 'unitPrice', 'per'] },
  ),
  { maxLength: 4 },
);

const usage = fc.record(
  {
    inputTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
    inputAudioMs: count,
  },
  { requiredKeys: [] },
);

const priced = fc
  .tuple(entries, lines, usage)
  .map(([{ parentCallId: _parent, toolUsage: _tools, ...entry }, chargeLines, used]): CallEntry => ({
    ...entry,
    usage: used,
    heldNanoUsd: String(entry.acceptedAtMs),
    charge: { priceId: 'any', lines: chargeLines, amountNanoUsd: recomputeAmount(chargeLines) },
  }));

const tools = fc
  .tuple(priced, fc.record({ webSearches: count, pagesRead: count }))
  .map(([{ usage: _usage, rawUsage: _raw, ...entry }, toolUsage]): CallEntry => ({ ...entry, usage: {}, toolUsage, estimated: false }));

/** The rows of any valid call: its own, and up to three parts. Their charges are the sums of their lines. */
export const callRows: fc.Arbitrary<[CallEntry, ...CallEntry[]]> = fc
  .tuple(priced, fc.array(fc.oneof(priced, tools), { maxLength: 3 }))
  .map(([call, parts]) => [
    call,
    ...parts.map((part, index) => ({ ...part, callId: `${call.callId}.${index + 2}`, parentCallId: call.callId })),
  ]);
