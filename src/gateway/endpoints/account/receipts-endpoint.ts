import type { Endpoint, EndpointRequest } from '../shared/endpoint.ts';
import { wordingOf } from '../shared/wording.ts';
import type { AccountServices } from './account-services.ts';
import { receiptOperation, receiptSchemas } from './open-api/receipt-operations.ts';
import { callIdOf } from '../../../billing/receipts/call-id-of.ts';
import type { FoundReceipt } from '../../../billing/receipts/find-receipt.ts';
import { showCredits } from '../../../billing/receipts/show-credits.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { enter } from '../../admission/enter.ts';
import { writeJson } from '../shared/write-json.ts';
import { siblingId } from '../../../platform/ids.ts';

/** Costs of calls with their reasons. */
export const receiptsEndpoint: Endpoint<AccountServices> = {
  name: 'receipts',
  routes: [
    {
      method: 'GET',
      path: '/v1/receipts/:id',
      openApi: { operation: receiptOperation },
      serve: (services, http, { params }) => serveReceipt(services, http, params['id'] ?? ''),
    },
  ],
  voice: { owns: (path) => /^\/v1\/receipts(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
  schemas: receiptSchemas,
};

/** Other strings are never ids and do not reach the database. */
const idPattern = /^[A-Za-z0-9_-]{1,128}$/;
const shownIdCharacters = 100;

/**
 * Serves `GET /v1/receipts/{id}`: the receipt of a call of the caller's user, made with any of its keys, by the id of
 * its request, of its reply or of its video. 202 while the call or its video is being generated. Reading changes
 * nothing in the books.
 * @throws GatewayError `object_not_found` for a missing call and for another user's, with the same message
 */
async function serveReceipt(gateway: AccountServices, http: EndpointRequest, id: string): Promise<void> {
  const { response } = http;
  const admitted = await enter(gateway, http, chatDialects['openai-responses'].voice);
  if (admitted === undefined) return;
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const found = await find(gateway, id, admitted.caller.userName, disconnected.signal);
  if (response.destroyed) return;
  if (found === undefined) throw new GatewayError('object_not_found', `Receipt with id '${id.slice(0, shownIdCharacters)}' not found.`);
  const headers = { 'cache-control': 'private, no-store' };
  if (found.state === 'ended') {
    const shown = showCredits(found.receipt, gateway.settings().routing.priceBook.credits);
    return writeJson(http, 200, shown, headers);
  }
  const waiting = { object: 'receipt', request_id: found.callId, status: 'in_progress' };
  writeJson(http, 202, waiting, { ...headers, 'retry-after': '1' });
}

/** A receipt, or the state of a call, with the id of the call. */
type Found = { readonly callId: string } & NonNullable<FoundReceipt>;

async function find(gateway: AccountServices, id: string, userName: string, signal: AbortSignal): Promise<Found | undefined> {
  if (!idPattern.test(id)) return undefined;
  if (gateway.receipts === undefined) throw new GatewayError('route_not_found', 'this gateway has no receipts');
  try {
    const own = await findOfCall(gateway, callIdOf(id), userName, signal);
    if (own !== undefined) return own;
    // The id may be the upstream's. Rows of replies that the upstream stores have it.
    const reply = await gateway.replyOwners.find(id);
    return reply?.userName === userName ? await findOfCall(gateway, reply.callId, userName, signal) : undefined;
  } catch (cause) {
    if (signal.aborted) return undefined;
    throw new GatewayError('receipts_unavailable', 'receipts cannot be read at the moment; try again', { retryAfterSeconds: 1, cause });
  }
}

async function findOfCall(
  { receipts, deadlines, videos }: AccountServices,
  callId: string,
  userName: string,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const taskId = siblingId(callId, 'task');
  const task = taskId === undefined ? undefined : await videos?.tasks.find(userName, taskId);
  // The row of a task is written when it ends.
  if (task !== undefined && task.phase !== 'completed' && task.phase !== 'failed') return { state: 'in-progress', callId };
  let isUnderWay = false;
  deadlines.forEach((running) => {
    isUnderWay ||= running.bookedInParts?.() === callId;
  });
  const found = await receipts?.find(callId, userName, isUnderWay, signal);
  return found === undefined ? undefined : { ...found, callId };
}
