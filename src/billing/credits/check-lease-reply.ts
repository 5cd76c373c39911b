import type { LeaseReply, LeaseRequest, LeaseState } from './credit-store.ts';

/**
 * Checks the reply of a store to lease requests. The desk computes with an applied reply, so an incomplete reply or one
 * about other leases is rejected as a whole and changes nothing.
 * @throws TypeError unless it answers each request, in order, with amounts
 */
export function checkLeaseReply(requests: readonly LeaseRequest[], reply: LeaseReply): LeaseReply {
  if (reply.status === 'fenced') return reply;
  const isComplete = reply.status === 'leased' && reply.leases.length === requests.length;
  if (!isComplete || !reply.leases.every((state, at) => isStateOf(state, requests[at])))
    throw new TypeError('The reply of the store does not match the lease requests.');
  return reply;
}

function isStateOf(state: LeaseState, request: LeaseRequest | undefined): boolean {
  const { potId, version, generation, granted, limit, remaining, leasedElsewhere, stranded } = state;
  const amounts = [granted, limit ?? 0n, remaining, leasedElsewhere, stranded];
  return (
    potId === request?.pot.id &&
    Number.isSafeInteger(version) &&
    typeof generation === 'string' &&
    amounts.every((amount) => typeof amount === 'bigint')
  );
}
