import type { LeaseReply, LeaseRequest, LeaseState } from './credit-store.ts';

/**
 * A store's answer to requests, as it was given. What is applied to a lease is counted with afterwards: half of an answer, or one about something else, is as good as
 * none, and changes nothing.
 * @throws TypeError when it does not answer each request, in their order, with amounts
 */
export function checkLeaseReply(requests: readonly LeaseRequest[], reply: LeaseReply): LeaseReply {
  if (reply.status === 'fenced') return reply;
  const isComplete = reply.status === 'leased' && reply.leases.length === requests.length;
  if (!isComplete || !reply.leases.every((state, at) => isStateOf(state, requests[at])))
    throw new TypeError('The store does not answer what it was asked about leases.');
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
