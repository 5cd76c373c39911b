/** The header in which every answer of the gateway carries its own id of the call. */
export const requestIdHeader = 'x-weir-request-id';

/** The header that says where the receipt of a reply is: in the answers that may cost something. */
export const receiptHeader = 'x-weir-receipt';

/** The path of the receipt of a call. */
export function receiptPath(callId: string): string {
  return `/v1/receipts/${callId}`;
}

/** Says that an answer was given before. */
export const replayedHeader = 'idempotent-replayed';
