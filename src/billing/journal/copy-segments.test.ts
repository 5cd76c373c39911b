import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { copySegments } from './copy-segments.ts';
import { encodeRecord, recordBytesBound, recordTypes } from './journal-record.ts';
import { segmentName } from './segment-name.ts';

const base = mkdtempSync(join(tmpdir(), 'weir-copy-'));
after(() => rmSync(base, { recursive: true, force: true }));

function record(callId: string): Buffer {
  const json = JSON.stringify({ callId });
  const buffer = Buffer.alloc(recordBytesBound(json));
  return buffer.subarray(0, encodeRecord(buffer, 0, recordTypes.open, json));
}

function journal(segments: readonly Buffer[]): string {
  const folder = mkdtempSync(join(base, 'journal-'));
  for (const [index, bytes] of segments.entries()) writeFileSync(join(folder, segmentName(index + 1)), bytes);
  return folder;
}

test('a copy has whole records only: neither the zeros of a segment that is being written nor half a record', async () => {
  const open = Buffer.concat([record('two'), record('three').subarray(0, 20)]);
  const from = journal([record('one'), Buffer.concat([open, Buffer.alloc(64 * 1024 - open.length)])]);
  const to = join(base, 'whole');
  assert.deepEqual(await copySegments(from, to), { segments: 2, callIds: ['one', 'two'] });
  assert.deepEqual(readFileSync(join(to, segmentName(1))), record('one'));
  assert.deepEqual(readFileSync(join(to, segmentName(2))), record('two'));
});

test('a record behind a gap that a later read does not show was read while it was written', async () => {
  const gap = Buffer.concat([Buffer.alloc(record('one').length), record('two')]);
  const from = journal([gap]);
  setTimeout(() => writeFileSync(join(from, segmentName(1)), Buffer.concat([record('one'), record('two')])), 5);
  const to = join(base, 'overtaken');
  assert.deepEqual((await copySegments(from, to)).callIds, ['one', 'two']);
  assert.deepEqual(readFileSync(join(to, segmentName(1))), Buffer.concat([record('one'), record('two')]));
});

test('a segment with lasting damage is copied as it is, for the recovery to set aside, and so are those set aside', async () => {
  const damaged = Buffer.concat([Buffer.from('damage'), record('two')]);
  const from = journal([damaged]);
  writeFileSync(join(from, `${segmentName(9)}.corrupt`), 'kept');
  const to = join(base, 'damaged');
  assert.deepEqual(await copySegments(from, to), { segments: 1, callIds: ['two'] });
  assert.deepEqual(readFileSync(join(to, segmentName(1))), damaged);
  assert.deepEqual(readdirSync(to), [segmentName(1), `${segmentName(9)}.corrupt`]);
});
