import { createHmac } from 'node:crypto';

const secretBytes = 32;
const prefix = 'whsec_';

/** A new secret as Standard Webhooks writes them: https://www.standardwebhooks.com, version 1.0.0. */
export function createCallbackSecret(randomBytes: (size: number) => Buffer): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/** What is signed: the id and time keep one event from passing for another, or for a later one. */
export type SignedCallback = { readonly id: string; readonly timestamp: number; readonly payload: string };

/** The header `webhook-signature`: one signature for each secret, so that a receiver that has any of them can check it. */
export function signCallback(secrets: readonly string[], { id, timestamp, payload }: SignedCallback): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')}`;
    })
    .join(' ');
}
