import type { Receipt } from '../../../src/billing/receipts/receipt.ts';
import { apiPath } from '../api/client.ts';
import { ApiProblem, type ProblemBody } from '../api/problem.ts';
import { nanosOf } from '../format/money.ts';
import { addSpent, forgetKey } from './payer.ts';

type Relayed = {
  readonly keyId: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Of the gateway, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON as it is sent, or a form. */
  readonly body?: string | FormData;
  readonly signal?: AbortSignal;
};

/** The address at which the console passes a request to the gateway. */
const relayAddress = (path: string): string => `${apiPath}/playground/relay${path}`;

/**
 * Sends a request to the gateway through the console, which adds the key.
 * @returns the answer of the gateway, also if it is an error
 * @throws ApiProblem if the console itself refuses, or does not answer
 */
export async function relay({ keyId, method = 'POST', path, headers = {}, body, signal }: Relayed): Promise<Response> {
  const isJson = typeof body === 'string';
  return await send(relayAddress(path), keyId, {
    method,
    headers: { ...headers, 'x-weir-playground-key': keyId, 'x-weir-console': '1', ...(isJson && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  });
}

async function send(address: string, keyId: string, request: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, request);
  } catch (error) {
    if (request.signal?.aborted === true) throw error;
    throw ApiProblem.unreachable(error);
  }
  if (response.headers.get('content-type')?.startsWith('application/problem+json') === true) {
    const problem = (await response.json()) as ProblemBody;
    if (problem.status === 404 || problem.status === 409) forgetKey(keyId);
    throw new ApiProblem(problem, response.headers);
  }
  return response;
}

/**
 * Sends a message on a WebSocket of the gateway, which the console opens and keeps.
 * @param connection its name
 * @returns the frames that answer it as a stream of events, or what the gateway answers instead of a WebSocket
 * @throws ApiProblem
 */
export async function relayMessage(
  { keyId, body: message, signal }: Relayed & { readonly body: string },
  connection: string,
): Promise<Response> {
  const body = JSON.stringify({ key: keyId, connection, message });
  return await send(`${apiPath}/playground/sockets/responses`, keyId, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...(signal !== undefined && { signal }),
  });
}

const receiptTries = 20;
const receiptWaitMs = 400;

/**
 * The receipt of a call, when it has ended. Its amount is added to what the key has spent.
 * @returns undefined if there is none within some seconds, as for a call that was refused before it cost anything
 */
export async function receiptOf(keyId: string, requestId: string): Promise<Receipt | undefined> {
  for (let tries = 0; tries < receiptTries; tries += 1) {
    const response = await relay({ keyId, method: 'GET', path: `/v1/receipts/${encodeURIComponent(requestId)}` });
    if (response.status === 200) {
      const receipt = (await response.json()) as Receipt;
      addSpent(keyId, nanosOf(receipt.total));
      return receipt;
    }
    if (response.status !== 202) return undefined;
    await new Promise((resolve) => setTimeout(resolve, receiptWaitMs));
  }
  return undefined;
}
