import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { encodeEntry, encodeOpening } from '../ledger/entry-json.ts';
import { type RecordType, encodeRecord, recordTypes } from './journal-record.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';
import { recoverSegments } from './recover-segments.ts';
import type { LostCallSettler } from './settle-lost-call.ts';

const directory = '/journal';
const { open, head, progress, done } = recordTypes;

const opening = (callId: string): CallOpening => ({
  callId,
  acceptedAtMs: 1,
  userName: 'u',
  keyId: 'k',
  keyName: 'n',
  dialect: 'd',
  requestedModel: 'm',
  upstream: 'first',
  vendor: 'v',
  upstreamModel: 'm',
  stream: true,
  inputCharacters: 40,
  priceVersion: 'p',
});

const lost = (call: CallOpening): CallEntry => ({
  ...call,
  end: 'lost',
  usage: {},
  estimated: true,
  durationMs: 2,
  charge: { amountNanoUsd: 0n, lines: [] },
});

function record(type: RecordType, json: string): Buffer {
  const buffer = Buffer.alloc(4096);
  return buffer.subarray(0, encodeRecord(buffer, 0, type, json));
}

const say = (type: RecordType, value: object): Buffer => record(type, JSON.stringify(value));
const opened = (callId: string): Buffer => record(open, encodeOpening(opening(callId)));
const ended = (callId: string): Buffer => record(done, encodeEntry(lost(opening(callId))));

/** Recovers segments with these bytes, and returns what was written again, logged, and passed to the settler. */
async function recover(segments: readonly Buffer[], settleLost: LostCallSettler = lost) {
  const files = segments.map((bytes, index): [string, { bytes: Buffer; syncedBytes: number }] => [
    `${directory}/segment-000000000${index + 1}.v1`,
    { bytes, syncedBytes: bytes.length },
  ]);
  const appended: CallEntry[] = [];
  const settled: unknown[][] = [];
  const logged: unknown[][] = [];
  const { calls, counts } = await recoverSegments({
    disk: new MemoryJournalDisk(new Map(files)),
    directory,
    numbers: segments.map((_, index) => index + 1),
    writer: {
      append: (_type, json) => {
        appended.push(JSON.parse(json) as CallEntry);
        return { segment: 99, offset: appended.length - 1, length: json.length };
      },
      flush: () => Promise.resolve(),
    },
    settleLost: (...call) => {
      settled.push(call.slice(1));
      return settleLost(...call);
    },
    logger: { warn: (...line: unknown[]) => logged.push(line), error: (...line: unknown[]) => logged.push(line) },
  });
  return { calls, counts, appended, settled, logged };
}

test('a final entry in an undamaged segment is shipped from there; one in a damaged segment is written again', async () => {
  const damaged = Buffer.concat([ended('a'), Buffer.from('?'), ended('b')]);
  const sound = Buffer.concat([opened('c'), ended('c')]);
  const { calls, counts, appended, logged } = await recover([damaged, sound]);
  assert.deepEqual(
    calls.map(({ callId, position }) => [callId, position.segment, position.offset]),
    [
      ['a', 99, 0],
      ['b', 99, 1],
      ['c', 2, opened('c').length],
    ],
  );
  assert.deepEqual(
    appended.map(({ callId }) => callId),
    ['a', 'b'],
  );
  assert.deepEqual([counts.segments, counts.records, counts.done], [2, 4, 3]);
  const keptAs = 'segment-0000000001.v1.corrupt';
  assert.deepEqual(counts.quarantined, [keptAs]);
  assert.deepEqual(logged, [[{ segment: 1, keptAs }, 'damaged journal segment quarantined']]);
});

test('the length of a torn end is logged with its segment', async () => {
  const { counts, logged } = await recover([ended('a'), Buffer.concat([ended('b'), ended('c').subarray(0, 20)])]);
  assert.equal(counts.tornBytes, 20);
  assert.deepEqual(logged, [[{ segment: 2, tornBytes: 20 }, 'journal segment truncated after a torn write']]);
});

test('a call that cannot be settled is booked as lost and estimated with amount 0, and logged', async () => {
  const err = new Error('no prices');
  const { counts, appended, logged } = await recover([opened('a')], () => {
    throw err;
  });
  assert.equal(counts.unsettled, 1);
  const booked: CallEntry = { ...lost(opening('a')), durationMs: 0, errorCode: 'internal_error' };
  assert.deepEqual(appended, [JSON.parse(encodeEntry(booked))]);
  assert.deepEqual(logged, [[{ err, callId: 'a' }, 'lost call booked with amount 0']]);
});

test('if the opening of the latest attempt is lost, an earlier one gives the caller, and nothing else of it is used', async () => {
  const { appended, settled } = await recover([
    Buffer.concat([
      say(head, { callId: 'a', attempt: 2, status: 200, elapsedMs: 5 }),
      opened('a'),
      say(head, { callId: 'a', status: 500, elapsedMs: 1 }),
      say(progress, { callId: 'a', outputCharacters: 70, elapsedMs: 9 }),
    ]),
  ]);
  assert.deepEqual(
    appended.map(({ callId, upstream }) => [callId, upstream]),
    [['a', 'first']],
  );
  assert.deepEqual(settled, [[{ callId: 'a', attempt: 2, status: 200, elapsedMs: 5 }, undefined]]);
});

for (const [name, reports, merged] of [
  ['without usage', [{}, {}], {}],
  ['with usage in the first', [{ usage: { inputTokens: 3 } }, {}], { usage: { inputTokens: 3 } }],
  [
    'with usage that adds up',
    [{ usage: { inputTokens: 3, outputTokens: 1 } }, { usage: { outputTokens: 2 } }],
    { usage: { inputTokens: 3, outputTokens: 2 } },
  ],
] as const) {
  test(`reports of progress ${name}: counts never decrease, and missing usage stays missing`, async () => {
    const [first, second] = reports;
    const { settled } = await recover([
      Buffer.concat([
        opened('a'),
        say(head, { callId: 'a', status: 200, elapsedMs: 1 }),
        say(progress, { callId: 'a', ...first, outputCharacters: 70, elapsedMs: 9 }),
        say(progress, { callId: 'a', ...second, outputCharacters: 60, elapsedMs: 8 }),
      ]),
    ]);
    const [, reported] = settled[0] ?? [];
    assert.deepEqual(reported, { ...merged, outputCharacters: 70, elapsedMs: 9 });
  });
}
