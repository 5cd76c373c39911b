import { createHmac } from 'node:crypto';

const secretBytes = 32;
const prefix = 'whsec_';

/** Creates a secret in the format of Standard Webhooks: https://www.standardwebhooks.com, version 1.0.0. */
export function createCallbackSecret(randomBytes: (size: number) => Buffer): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/** The signed content. The id and the time prevent the replay of an event as another or a later one. */
export type SignedCallback = { readonly id: string; readonly timestamp: number; readonly payload: string };

/** The header `webhook-signature`: one signature for each secret, so that a receiver with any of them can verify it. */
export function signCallback(secrets: readonly string[], { id, timestamp, payload }: SignedCallback): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')}`;
    })
    .join(' ');
}
