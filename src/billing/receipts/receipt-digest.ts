import { createHash } from 'node:crypto';

import type { Receipt } from './receipt.ts';

/**
 * Canonical JSON (RFC 8785): no white space, members in the order of their names, numbers and strings as JavaScript
 * writes them. The value must come from JSON.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/**
 * The digest of a receipt: SHA-256 of its canonical JSON without `booked`, which changes when the receipt reaches the
 * ledger, without `credits`, which the operator may change at any time, and without the digest itself. It detects
 * accidental and careless changes. It is not a signature, because anybody can compute it again.
 */
export function digestOf(receipt: Omit<Receipt, 'digest' | 'booked'>): string {
  const {
    digest: _digest,
    booked: _booked,
    credits: _credits,
    ...digested
  }: Omit<Receipt, 'digest' | 'booked'> & { digest?: unknown; booked?: unknown } = receipt;
  return `sha256:${createHash('sha256').update(canonicalJson(digested)).digest('hex')}`;
}
