import { type CallFact, describeCall, endCodes, keyLabel } from '../../../billing/calls/call-fact.ts';
import { decodeCallEntry } from '../call-entry-row.ts';
import type { NumberedRow } from '../new-calls.ts';
import { readBigInt, readInteger, readText } from '../read-column.ts';
import type { SqlRow } from '../sql-values.ts';

/** A row of the ledger, as the follower needs it. */
export type FollowedCall = {
  readonly number: number;
  readonly callId: string;
  readonly atMs: number;
  readonly billed: number;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly cacheTokens: bigint;
  readonly cacheCreationTokens: bigint;
  readonly useTimeMs: bigint;
  readonly amountNanoUsd: bigint;
  readonly fact: CallFact;
};

/** Sums come from the columns that the statistics add up, everything else from the entry. */
export function readFollowedCall({ number, row }: NumberedRow): FollowedCall {
  return {
    number,
    callId: readText(row, 'call_id'),
    atMs: readInteger(row, 'accepted_at_ms'),
    billed: readInteger(row, 'billed'),
    promptTokens: readBigInt(row, 'prompt_tokens'),
    completionTokens: readBigInt(row, 'completion_tokens'),
    cacheTokens: readBigInt(row, 'cache_tokens'),
    cacheCreationTokens: readBigInt(row, 'cache_creation_tokens'),
    useTimeMs: readBigInt(row, 'use_time_ms'),
    amountNanoUsd: readBigInt(row, 'amount_nano_usd'),
    fact: readFact(row),
  };
}

/** A text that was damaged must not stop the follower: then only the columns of the row are known. */
function readFact(row: SqlRow): CallFact {
  try {
    return describeCall(decodeCallEntry(row));
  } catch {
    const name = (value: string) => ({ value, label: '' });
    const [userName, keyName] = [readText(row, 'user_name'), readText(row, 'key_name')];
    return {
      names: {
        user: name(userName),
        key: { value: typeof row['key_id'] === 'string' ? row['key_id'] : '', label: keyLabel(userName, keyName) },
        model: name(readText(row, 'requested_model')),
        servedModel: undefined,
        upstream: undefined,
        upstreamModel: undefined,
        interface: undefined,
        error: undefined,
        team: undefined,
      },
      tags: undefined,
      endCode: endCodes.lost,
      status: 0,
      flags: 0,
      parentId: undefined,
      isRound: false,
      isRequest: true,
      firstByteMs: undefined,
      failedAttempts: [],
    };
  }
}
