import { lookup } from 'node:dns/promises';

import type { Clock } from '../../platform/clock.ts';
import { type LookUpHost, postGuarded } from '../../platform/http/fetch-guarded.ts';
import { FetchMediaError } from '../../platform/http/fetch-media-error.ts';
import { isPublicAddress } from '../../platform/http/public-address.ts';
import type { Delivery } from './callback-store.ts';
import { signCallback } from './callback-secret.ts';
import type { CallbackVault } from './callback-vault.ts';

export type AttemptParts = {
  readonly vault: CallbackVault;
  readonly clock: Clock;
  /** Whether receivers may be in private networks, speak http, and use any port. */
  readonly allowPrivate: () => boolean;
  /** How host names are looked up. Default: the system's resolver. */
  readonly lookUp?: LookUpHost;
  readonly timeoutMs: number;
};

/** The outcome of an attempt. `isFinal`: no further attempt can succeed, or is requested. */
export type AttemptOutcome =
  | { readonly type: 'delivered'; readonly status: number }
  | { readonly type: 'failed'; readonly status?: number; readonly problem: string; readonly isFinal: boolean };

/**
 * Sends an event once. Only a status from 200 to 299 is a success. Redirects are not followed, because their targets
 * are not checked, and the body of the answer is not read. Rejects if the secrets are unavailable.
 */
export async function attemptDelivery(parts: AttemptParts, delivery: Delivery, url: string, signal: AbortSignal): Promise<AttemptOutcome> {
  const { id, payload, userName } = delivery;
  const secrets = await parts.vault.secretsOf(userName);
  const timestamp = Math.floor(parts.clock.nowMs() / 1000);
  const allowPrivate = parts.allowPrivate();
  const timeout = AbortSignal.timeout(parts.timeoutMs);
  try {
    const status = await postGuarded(url, payload, {
      lookUp: parts.lookUp ?? ((hostname) => lookup(hostname, { all: true })),
      isAllowed: (address) => allowPrivate || isPublicAddress(address),
      allowAnyServer: allowPrivate,
      allowAnyPort: true,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'weir',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signCallback(secrets, { id, timestamp, payload }),
      },
      timeoutMs: parts.timeoutMs,
      signal: AbortSignal.any([signal, timeout]),
    });
    if (status >= 200 && status <= 299) return { type: 'delivered', status };
    return { type: 'failed', status, problem: `the receiver answered with status ${status}`, isFinal: status === 410 };
  } catch (error) {
    signal.throwIfAborted();
    return { type: 'failed', problem: timeout.aborted ? 'the receiver did not answer in time' : describe(error), isFinal: false };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof FetchMediaError)) return 'the receiver cannot be reached';
  if (error.problem === 'forbidden-host') return "the receiver's host has no public internet address";
  return error.problem === 'invalid-url' ? 'the address is not allowed' : 'the receiver cannot be reached';
}
