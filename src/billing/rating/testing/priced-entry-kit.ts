import type { Usage } from '../../../inference/usage.ts';
import type { CallEntry } from '../../ledger/call-entry.ts';
import { acceptedAtMs } from './price-book-kit.ts';
import type { PriceBook } from '../rating.ts';

// For tests: a row of the ledger that was priced by a book.

/**
 * The row of a finished call of claude-sonnet-4-5, unless a test changes it, with the charge of the book for the usage.
 */
export function pricedEntry(book: PriceBook, usage: Usage, more: Partial<CallEntry> = {}): CallEntry {
  const entry = {
    callId: 'req_1',
    acceptedAtMs,
    userName: 'alice',
    keyId: 'key_1',
    keyName: 'ci',
    dialect: 'anthropic-messages',
    requestedModel: 'claude-sonnet-4-5',
    upstream: 'anthropic',
    vendor: 'anthropic',
    upstreamModel: 'claude-sonnet-4-5',
    stream: false,
    inputCharacters: 12,
    priceVersion: book.version,
    end: 'finished',
    upstreamStatus: 200,
    estimated: false,
    durationMs: 5,
    ...more,
  } as const;
  const pricingParameters = { ...more.pricingParameters, ...more.replyParameters };
  return { ...entry, usage, charge: more.charge ?? book.rate({ ...entry, usage, pricingParameters }) };
}
