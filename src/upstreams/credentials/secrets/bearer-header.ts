import type { CloudCredential } from '../cloud-credential.ts';
import { CredentialError } from '../credential-source.ts';

/** The header with a token. @throws CredentialError for a credential of another kind */
export function bearerHeader(credential: CloudCredential): Readonly<Record<string, string>> {
  if (credential.kind !== 'bearer') throw new CredentialError('the credential is not a token');
  return { authorization: `Bearer ${credential.token}` };
}
