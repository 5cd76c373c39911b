import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import { decideKey, type KeyDisposition } from './decide-key.ts';

type Row = readonly [
  what: string,
  status: number,
  isBroken: boolean,
  entry: readonly [CallEnd, number | undefined, bigint] | undefined,
  KeyDisposition,
];

const rows: readonly Row[] = [
  ['a whole answer', 200, false, ['finished', 200, 5n], 'keep'],
  ['an answer that costs nothing', 200, false, ['finished', 200, 0n], 'keep'],
  ['what is in no books', 200, false, undefined, 'keep'],
  ['a stream that broke off with its error event', 200, false, ['cut', 200, 5n], 'keep'],
  ['a stream that was broken off without one', 200, true, ['cut', 200, 5n], 'spend'],
  ['an unknown reply that was broken off', 200, true, undefined, 'spend'],
  ['heartbeats, and then only how it failed', 200, false, ['failed', 503, 0n], 'release'],
  ['a stream that failed before it began and was broken off', 200, true, ['failed', undefined, 0n], 'release'],
  ['a refusal before an upstream was asked', 400, false, undefined, 'release'],
  ['a refusal that broke off', 400, true, undefined, 'release'],
  ['an upstream that refuses the request', 422, false, ['failed', 422, 0n], 'keep'],
  ['an upstream that does not know its model', 404, false, ['failed', 404, 0n], 'keep'],
  ['an upstream that refuses the gateway', 503, false, ['failed', 401, 0n], 'release'],
  ['a refusal of ours after an upstream failed', 400, false, ['failed', 500, 0n], 'release'],
  ['a refusal of ours after no answer', 400, false, ['failed', undefined, 0n], 'release'],
  ['a rate limit', 429, false, ['failed', 429, 0n], 'release'],
  ['an upstream that is overloaded', 503, false, ['failed', 503, 0n], 'release'],
  ['an upstream that failed', 500, false, ['failed', 500, 0n], 'release'],
  ['a failure after something was charged', 502, false, ['failed', 500, 1n], 'keep'],
  ['a failure after a round that finished', 502, false, ['cut', 200, 0n], 'keep'],
  ...[401, 402, 403, 407, 408, 409, 425].map((status): Row => [
    `a passing refusal, ${status}`,
    status,
    false,
    ['failed', status, 0n],
    'release',
  ]),
];

for (const [what, status, isBroken, entry, verdict] of rows)
  test(`${what}: ${verdict}`, () => {
    const known = entry === undefined ? undefined : { end: entry[0], charge: { amountNanoUsd: entry[2], lines: [] } };
    const booked = known === undefined ? undefined : { ...known, ...(entry?.[1] === undefined ? {} : { upstreamStatus: entry[1] }) };
    assert.equal(decideKey({ status, isBroken, entry: booked }), verdict);
  });
