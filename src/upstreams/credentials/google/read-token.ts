import { filledText, membersOf, numberOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import type { CloudCredential } from '../cloud-credential.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import type { FetchedCredential } from '../refresh-credentials.ts';
import type { TokenReply, TokenRequest } from '../token-client.ts';

export type GoogleToken = FetchedCredential<CloudCredential>;

/** The scope of all calls to Google Cloud. */
export const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';

/** What to do about refusals that operators meet, by the words of Google. */
const advice: readonly (readonly [words: RegExp, says: string])[] = [
  [/invalid_grant.*(?:jwt signature|account not found)/i, 'the key was deleted or the service account does not exist: create a new key'],
  [/invalid_grant.*(?:short-lived|reasonable timeframe|\biat\b|\bexp\b)/i, 'the clock of this machine is wrong: synchronize it'],
  [/invalid_grant/i, 'the sign-in of the user has ended: run gcloud auth application-default login again'],
  [/audience|subject token|invalid_target/i, 'the workload identity pool does not accept the token: check audience, issuer and subject'],
  [
    /getAccessToken|generateAccessToken/i,
    'the identity may not impersonate the service account: grant roles/iam.workloadIdentityUser on it',
  ],
];

/** Asks a service for a document. @throws CredentialError with the words of the service, and what to do */
export async function askGoogle(
  means: Pick<CredentialMeans, 'ask'>,
  request: TokenRequest,
  { origin, signal }: { readonly origin: string; readonly signal: AbortSignal },
): Promise<JsonObject> {
  let reply: TokenReply;
  try {
    reply = await means.ask(request, signal);
  } catch (cause) {
    throw new CredentialError(`${origin}: ${new URL(request.url).origin} does not answer`, { cause });
  }
  const members = membersOf(parseIfJson(reply.body));
  if (reply.status === 200) return members;
  const error = members['error'];
  const inner = membersOf(error);
  const words = [filledText(error) ?? filledText(inner['status']), filledText(members['error_description']) ?? filledText(inner['message'])]
    .filter((part) => part !== undefined)
    .join(': ');
  const hint = advice.find(([pattern]) => pattern.test(words))?.[1];
  const said = `the service answers ${reply.status}${words === '' ? '' : `, ${words.slice(0, 300)}`}`;
  throw new CredentialError(`${origin}: ${hint === undefined ? said : `${hint} (${said})`}`);
}

/** Reads a token with its life in seconds. @throws CredentialError if there is none */
export function readToken(members: JsonObject, { origin, nowMs }: { readonly origin: string; readonly nowMs: number }): GoogleToken {
  const token = filledText(members['access_token']);
  if (token === undefined) throw new CredentialError(`${origin}: the answer has no access_token`);
  const seconds = numberOf(members['expires_in']) ?? 300;
  return { credential: { kind: 'bearer', token }, origin, expiresAtMs: nowMs + seconds * 1000 };
}

/** A form as a body, with its type. */
export function formOf(fields: Readonly<Record<string, string>>): Pick<TokenRequest, 'body' | 'headers'> {
  return { body: new URLSearchParams(fields).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}
