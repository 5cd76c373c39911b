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
  /** Whether receivers may stand in private networks, be spoken to over http and listen at any port. */
  readonly allowPrivate: () => boolean;
  /** How host names are looked up. Default: as the system does. */
  readonly lookUp?: LookUpHost;
  readonly timeoutMs: number;
};

/** What became of an attempt. `isFinal`: no further one can succeed, or is wanted. */
export type AttemptOutcome =
  | { readonly type: 'delivered'; readonly status: number }
  | { readonly type: 'failed'; readonly status?: number; readonly problem: string; readonly isFinal: boolean };

/**
 * Sends an event once. Only a status from 200 to 299 is a success; no redirect is followed, for it would lead to where nobody has looked, and what the receiver answers is not read. Rejects where the secrets
 * cannot be had.
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
  return error.problem === 'invalid-url' ? 'the address is not one that may be called' : 'the receiver cannot be reached';
}
