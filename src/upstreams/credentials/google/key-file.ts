import { sign } from 'node:crypto';

import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import { fetchFederated } from './federation.ts';
import { askGoogle, cloudScope, formOf, type GoogleToken, readToken } from './read-token.ts';

/** A document with a credential, and the place where it was found. */
export type KeyDocument = { readonly text: string; readonly origin: string };

const usualTokenUrl = 'https://oauth2.googleapis.com/token';
const assertionSeconds = 3600;

/**
 * Fetches a token with a document of Google: the key of a service account, a user of gcloud, or workload identity
 * federation. @throws CredentialError
 */
export async function fetchWithDocument({ text, origin }: KeyDocument, means: CredentialMeans, signal: AbortSignal): Promise<GoogleToken> {
  const document = membersOf(parseIfJson(text));
  const type = filledText(document['type']);
  switch (type) {
    case 'service_account':
      return await fetchForAccount(document, `${origin}, service account`, means, signal);
    case 'authorized_user':
      return await fetchForUser(document, `${origin}, user of gcloud`, means, signal);
    case 'external_account':
      return await fetchFederated(document, `${origin}, workload identity federation`, means, signal);
    case undefined:
    default:
      throw new CredentialError(
        `${origin}: ${type === undefined ? 'it is not a JSON document with a type' : `the type ${type.slice(0, 60)} is not supported`}; ` +
          'expected service_account, authorized_user or external_account',
      );
  }
}

/** The member of a document. @throws CredentialError that names it */
function memberOf(document: JsonObject, name: string, origin: string): string {
  const value = filledText(document[name]);
  if (value === undefined) throw new CredentialError(`${origin}: the member ${name} is missing`);
  return value;
}

async function fetchForAccount(document: JsonObject, origin: string, means: CredentialMeans, signal: AbortSignal): Promise<GoogleToken> {
  const issuer = memberOf(document, 'client_email', origin);
  const audience = filledText(document['token_uri']) ?? usualTokenUrl;
  const nowMs = means.clock.nowMs();
  const assertion = signAssertion(
    { iss: issuer, scope: cloudScope, aud: audience, iat: Math.floor(nowMs / 1000), exp: Math.floor(nowMs / 1000) + assertionSeconds },
    { key: memberOf(document, 'private_key', origin), keyId: filledText(document['private_key_id']), origin },
  );
  const grant = formOf({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const members = await askGoogle(means, { url: audience, method: 'POST', ...grant }, { origin, signal });
  return { ...readToken(members, { origin, nowMs }), identity: issuer };
}

type SigningKey = { readonly key: string; readonly keyId: string | undefined; readonly origin: string };

/** Signs a JWT with RS256. @throws CredentialError if the key is none */
function signAssertion(claims: object, { key, keyId, origin }: SigningKey): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) })}.${encode(claims)}`;
  try {
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
  } catch {
    // The error of the library may quote the key.
    throw new CredentialError(`${origin}: private_key is not a private key in PEM form`);
  }
}

async function fetchForUser(document: JsonObject, origin: string, means: CredentialMeans, signal: AbortSignal): Promise<GoogleToken> {
  const grant = formOf({
    grant_type: 'refresh_token',
    client_id: memberOf(document, 'client_id', origin),
    client_secret: memberOf(document, 'client_secret', origin),
    refresh_token: memberOf(document, 'refresh_token', origin),
  });
  const nowMs = means.clock.nowMs();
  const url = filledText(document['token_uri']) ?? usualTokenUrl;
  return readToken(await askGoogle(means, { url, method: 'POST', ...grant }, { origin, signal }), { origin, nowMs });
}
