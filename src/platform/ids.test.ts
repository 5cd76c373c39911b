import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createIds, siblingId, timeOfId } from './ids.ts';

test('ids have one form, differ even within a millisecond, and sort by time', () => {
  let nowMs = Date.UTC(2026, 10, 20);
  const newId = createIds({ nowMs: () => nowMs, monotonicMs: () => 0 });
  const ids: string[] = [];
  // More than the block of randomness holds, so that it is drawn several times.
  for (let index = 0; index < 1000; index++) {
    if (index % 100 === 0) nowMs += 1;
    ids.push(newId('req'));
  }
  for (const id of ids) assert.match(id, /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(new Set(ids.map((id) => id.slice(-16))).size, ids.length);
  const heads = ids.map((id) => id.slice(0, 14));
  assert.deepEqual(heads, heads.toSorted());
  assert.equal(new Set(heads).size, 10);
});

test('the head is the time, to the millisecond, at both ends of what it can hold', () => {
  const head = (nowMs: number): string => createIds({ nowMs: () => nowMs, monotonicMs: () => 0 })('x').slice(2, 12);
  assert.equal(head(0), '0000000000');
  assert.equal(head(31), '000000000z');
  assert.equal(head(32 ** 10 - 1), 'zzzzzzzzzz');
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const nowMs = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
  assert.equal(
    head(nowMs)
      .split('')
      .reduce((time, digit) => time * 32 + alphabet.indexOf(digit), 0),
    nowMs,
  );
});

test('randomness: every place takes every value', () => {
  const newId = createIds({ nowMs: () => 0, monotonicMs: () => 0 });
  const seen = Array.from({ length: 16 }, () => new Set<string>());
  for (let index = 0; index < 2000; index++)
    for (const [place, digit] of newId('x').slice(-16).split('').entries()) seen[place]?.add(digit);
  assert.deepEqual(
    seen.map((digits) => digits.size),
    Array.from({ length: 16 }, () => 32),
  );
});

test('the creation time is read from an id, and from nothing else', () => {
  const nowMs = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
  assert.equal(timeOfId(createIds({ nowMs: () => nowMs, monotonicMs: () => 0 })('req')), nowMs);
  for (const none of [
    '',
    'req_',
    'req_1',
    `req_${'u'.repeat(26)}`,
    `req_${'0'.repeat(27)}`,
    `REQ_${'0'.repeat(26)}`,
    `req_${'0'.repeat(26)}.2`,
  ])
    assert.equal(timeOfId(none), undefined, none);
});

test('the id of a call is derived from the id of its response, and from no other id', () => {
  const id = createIds({ nowMs: () => 1, monotonicMs: () => 0 })('req');
  const reply = siblingId(id, 'resp') ?? '';
  assert.match(reply, /^resp_/);
  assert.equal(siblingId(reply, 'req'), id);
  for (const other of ['req_1', `${id}.2`, `x${id}`.toUpperCase(), `${id}a`, 'resp_68a1f0', '', `chatcmpl-${id}`])
    assert.equal(siblingId(other, 'req'), undefined, other);
});
