import { hash } from 'node:crypto';

/**
 * The form in which a secret is stored and looked up: SHA-256 of pepper and secret, in hexadecimal. A slow password
 * hash would add nothing for secrets of 256 random bits, and would let anyone keep the gateway busy. `crypto.hash`
 * takes half a microsecond, an HMAC object 30 times as long. Secrets are only compared by a look-up of this hash, so
 * the time of a look-up discloses nothing about a secret.
 */
export function hashSecret(pepper: string, secret: string): string {
  return hash('sha256', pepper + secret, 'hex');
}

/** The SHA-256 digest of a text, in lower-case hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/**
 * The form in which a key is stored whose secret only another gateway knew, and of which that gateway kept the SHA-256
 * digest. The digest has a pepper of its own: sent as a secret, it opens nothing.
 * @param digest SHA-256 of the secret, in lower-case hexadecimal
 */
export function hashDigest(pepper: string, digest: string): string {
  return hashSecret(hashSecret(pepper, 'digests of secrets'), digest);
}
