import type { CallEntry, CallOpening } from '../../ledger/call-entry.ts';

// For tests: openings and entries of calls.

/** The opening of a call. */
export const opening = (callId: string): CallOpening => ({
  callId,
  acceptedAtMs: 1,
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'ci',
  dialect: 'openai-chat',
  requestedModel: 'm',
  upstream: 'one',
  vendor: 'acme',
  upstreamModel: 'm',
  stream: false,
  inputCharacters: 4,
  priceVersion: 'test',
});

/** The entry of the same call after it has finished. */
export const entry = (callId: string): CallEntry => ({
  ...opening(callId),
  end: 'finished',
  upstreamStatus: 200,
  usage: { outputTokens: 1 },
  estimated: false,
  durationMs: 1,
  charge: { amountNanoUsd: 5n, lines: [] },
});
