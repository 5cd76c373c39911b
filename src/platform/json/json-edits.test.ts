import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BytePieces, joinBytes } from '../byte-pieces.ts';
import { applyJsonEdits, spliceJson } from './json-edits.ts';

const bytes = Buffer.from('{"a":1,"é":2}');

test('without edits the same buffer is returned', () => {
  assert.equal(applyJsonEdits(bytes, []), bytes);
});

test('edits apply in any order, with other lengths and characters of several bytes', () => {
  const edits = [
    { start: 12, end: 13, replacement: '"zwölf"' },
    { start: 5, end: 6, replacement: '"😀"' },
  ];
  assert.equal(applyJsonEdits(bytes, edits).toString(), '{"a":"😀","é":"zwölf"}');
  assert.equal(applyJsonEdits(bytes, edits.toReversed()).toString(), '{"a":"😀","é":"zwölf"}');
  assert.equal(bytes.toString(), '{"a":1,"é":2}');
});

test('insertions come before a replacement at the same position, in their order', () => {
  const edits = [
    { start: 1, end: 6, replacement: '"x":0' },
    { start: 1, end: 1, replacement: '"p":1,' },
    { start: 1, end: 1, replacement: '"q":2,' },
  ];
  assert.equal(applyJsonEdits(bytes, edits).toString(), '{"p":1,"q":2,"x":0,"é":2}');
});

test('adjacent edits do not overlap, and crossing edits are refused', () => {
  const first = { start: 1, end: 4, replacement: '"b"' };
  assert.equal(applyJsonEdits(bytes, [first, { start: 4, end: 6, replacement: ':3' }]).toString(), '{"b":3,"é":2}');
  assert.throws(() => applyJsonEdits(bytes, [first, { start: 3, end: 6, replacement: '' }]), RangeError);
  assert.throws(() => applyJsonEdits(bytes, [first, { start: 2, end: 2, replacement: 'x' }]), RangeError);
});

test('splicing gives the same bytes as applying, without copying a large text', () => {
  const large = Buffer.from(JSON.stringify({ model: 'm', text: 'x'.repeat(40_000) }));
  const edits = [{ start: 9, end: 12, replacement: '"other"' }];
  const spliced = spliceJson(large, edits);
  assert.ok(spliced instanceof BytePieces);
  assert.deepEqual(joinBytes(spliced), applyJsonEdits(large, edits));
  assert.equal(spliced.length, large.length + 4);
  assert.ok(spliced.pieces.filter(({ buffer }) => buffer === large.buffer).length === 2);
  assert.equal(spliceJson(large, []), large);
  assert.deepEqual(spliceJson(bytes, [{ start: 5, end: 6, replacement: '3' }]), Buffer.from('{"a":3,"é":2}'));
});
