import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { buildReceipt } from './build-receipt.ts';
import { verifyReceipt } from './verify-receipt.ts';

const note = { kind: 'dropped', field: 'seed', reason: 'the vendor has none' } as const;
const attempt = { upstream: 'a', credential: 'c', upstreamModel: 'm', errorCode: 'upstream_error', durationMs: 9 };
const entry = pricedEntry(
  createPriceBook({ book: bookOf(plainEntry()) }),
  { inputTokens: 7 },
  {
    vendor: 'acme',
    upstreamModel: 'm-1',
    heldNanoUsd: '1',
    failedAttempts: [attempt],
    disconnect: { policy: 'drain', leftAfterMs: 3, deliveredCharacters: 4, upstreamEndedAfterMs: 9, usageReported: true },
    translation: { upstreamDialect: 'openai-chat', notes: [note] },
  },
);
/** A receipt in which every member that may be null is not, as JSON. */
const receipt = parseJson(JSON.stringify(buildReceipt([entry], true)));

/** Members whose own members have names from requests and vendors. */
const free = /\.(usage|tool_usage|pricing_parameters|reply_parameters|multipliers|usage_reported)$/;

/** Every object in a value with members of the schema, by its place. */
function objectsOf(value: JsonValue | undefined, place = ''): (readonly [place: string, object: JsonObject])[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => objectsOf(each, `${place}.${index}`));
  if (!isJsonObject(value) || free.test(place)) return [];
  return [[place, value], ...Object.entries(value).flatMap(([name, member]) => objectsOf(member, `${place}.${name}`))];
}

/** The receipt with another value at a place. */
function changedAt(place: string, change: (value: JsonValue | undefined) => JsonValue | undefined): unknown {
  const [name, ...rest] = place.split('.').slice(1);
  const set = (value: JsonValue | undefined, [first, ...others]: readonly string[]): JsonValue | undefined => {
    if (first === undefined) return change(value);
    if (Array.isArray(value)) return value.map((each, index) => (String(index) === first ? (set(each, others) ?? null) : each));
    const members = isJsonObject(value) ? value : {};
    const changed = set(members[first], others);
    const { [first]: _before, ...remaining } = members;
    return changed === undefined ? remaining : { ...remaining, [first]: changed };
  };
  return set(receipt, name === undefined ? [] : [name, ...rest]);
}

const isRefused = (value: unknown): boolean => verifyReceipt(value).receipt === undefined;

test('no member of a receipt may be missing or added, at any depth', () => {
  assert.deepEqual(verifyReceipt(receipt).problems, []);
  const objects = objectsOf(receipt);
  assert.equal(objects.length, 14);
  for (const [place, object] of objects) {
    assert.ok(isRefused(changedAt(`${place}.odd`, () => 1)), `${place} with another member`);
    for (const name of Object.keys(object))
      assert.ok(isRefused(changedAt(`${place}.${name}`, () => undefined)), `${place} without ${name}`);
  }
});

test('only members that some calls lack may be null', () => {
  const nullable =
    'served_model upstream_dialect stop_reason error_code upstream_status upstream_request_id service_tier disconnect tool_usage usage_reported estimate_reason held';
  const isNullable = (place: string) => nullable.split(' ').some((name) => place === `.rows.0.${name}`);
  const nullablePlaces = new Set(['.held', '.rows.0.price.id', '.rows.0.timings.first_byte_ms', '.rows.0.lines.0.formula']);
  const ofAttempt = new Set(['.rows.0.attempts.0.upstream_status', '.rows.0.attempts.0.upstream_request_id']);
  for (const [place, object] of objectsOf(receipt))
    for (const name of Object.keys(object)) {
      const at = `${place}.${name}`;
      const mayBeNull = isNullable(at) || nullablePlaces.has(at) || ofAttempt.has(at);
      assert.equal(isRefused(changedAt(at, () => null)), !mayBeNull, at);
    }
});

test('a value of another type is refused', () => {
  for (const [place, ...values] of [
    ['.object', 'invoice'],
    ['.schema', 'other'],
    ['.version', 2],
    ['.currency', 'EUR'],
    ['.rounding', 'down'],
    ['.rows', []],
    ['.end', 'done'],
    ['.digest', 'sha256:00', `md5:${'0'.repeat(64)}`],
    ['.total.nano_usd', '1.5', '--1', '', '1'.repeat(31)],
    ['.total.usd', '1.', '0.1234567890', '.5', '1'.repeat(31)],
    ['.rows.0.kind', 'other'],
    ['.rows.0.end', 'done'],
    ['.rows.0.estimate_reason', 'other'],
    ['.rows.0.sum_usd', '1.', '--1', '1/', '1/2/3'],
    ['.rows.0.input_characters', -1, 0.5],
    ['.rows.0.lines.0.quantity', -1, 0.5],
    ['.rows.0.lines.0.per', 0, 0.5],
    ['.rows.0.timings.duration_ms', -1, 0.5],
    ['.rows.0.attempts.0.duration_ms', -1],
    ['.rows.0.disconnect.left_after_ms', -1],
  ] as const)
    for (const value of values)
      assert.ok(isRefused(changedAt(place, () => (Array.isArray(value) ? [] : value))), `${place} ${String(value)}`);
});
