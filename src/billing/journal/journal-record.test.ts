import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';

import { decodeRecord, encodeRecord, recordBytesBound, recordPayloadBytesMax, recordTypes, scanSegment } from './journal-record.ts';
import { readSegmentNumbers, segmentName } from './segment-name.ts';

function written(json: string): Buffer {
  const buffer = Buffer.alloc(recordBytesBound(json) + 3);
  return buffer.subarray(0, encodeRecord(buffer, 0, recordTypes.head, json));
}

test('a record is encoded as length, checksum, type and payload', () => {
  const bytes = written('{}');
  assert.equal(bytes.length, 11);
  assert.deepEqual([bytes.readUInt32LE(0), bytes[8], bytes.toString('utf8', 9)], [2, 2, '{}']);
  assert.equal(bytes.readUInt32LE(4), crc32(bytes.subarray(8)));
  assert.deepEqual(decodeRecord(bytes, 0), { type: recordTypes.head, offset: 0, length: 11, value: {} });
});

test('a record with a changed byte, a missing end or an unknown type is not decoded', () => {
  const bytes = written('{"a":"ü"}');
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    assert.equal(decodeRecord(damaged, 0), undefined, `byte ${at}`);
    assert.equal(decodeRecord(bytes.subarray(0, at), 0), undefined, `cut at ${at}`);
  }
});

test('a payload must be an object within the size limit', () => {
  const longest = `{"a":"${'x'.repeat(recordPayloadBytesMax - 8)}"}`;
  assert.ok(decodeRecord(written(longest), 0));
  assert.equal(decodeRecord(written(`${longest} `), 0), undefined);
  assert.equal(decodeRecord(written('['), 0), undefined);
  assert.equal(decodeRecord(written('[]'), 0), undefined);
});

test('a torn end is not damage, and complete records after a damaged part are found', () => {
  const [one, two] = [written('{"n":1}'), written('{"n":2}')];
  const torn = scanSegment(Buffer.concat([one, two.subarray(0, 5)]));
  assert.deepEqual([torn.records.length, torn.cleanBytes, torn.damaged], [1, one.length, false]);
  const hole = scanSegment(Buffer.concat([one, Buffer.from('???'), two]));
  assert.deepEqual([hole.records.map(({ value }) => value), hole.cleanBytes, hole.damaged], [[{ n: 1 }, { n: 2 }], one.length, true]);
  const whole = scanSegment(Buffer.concat([one, two]));
  assert.deepEqual([whole.records.at(-1)?.offset, whole.cleanBytes, whole.damaged], [one.length, one.length + two.length, false]);
  assert.deepEqual(scanSegment(Buffer.alloc(0)), { records: [], cleanBytes: 0, damaged: false });
});

test('segments are listed in order, other files are ignored, and a segment of another release is an error', () => {
  assert.equal(segmentName(12), 'segment-0000000012.v1');
  const names = [segmentName(12), 'probe', segmentName(3), `${segmentName(4)}.corrupt`, `x${segmentName(5)}`, 'segment-1.v1'];
  assert.deepEqual(readSegmentNumbers(names), [3, 12]);
  assert.throws(() => readSegmentNumbers(['segment-0000000001.v12']), /segment-0000000001\.v12 was written by another release/);
});
