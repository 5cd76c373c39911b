import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import { readNamedFile } from '../read-file.ts';
import { askGoogle, cloudScope, formOf, type GoogleToken, readToken } from './read-token.ts';

const usualExchangeUrl = 'https://sts.googleapis.com/v1/token';
const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * Exchanges the token of another identity provider for one of Google, and that for one of a service account if the
 * document names one. The token is read again each time, because its provider replaces it. @throws CredentialError
 */
export async function fetchFederated(
  document: JsonObject,
  origin: string,
  means: CredentialMeans,
  signal: AbortSignal,
): Promise<GoogleToken> {
  const member = (name: string): string => {
    const value = filledText(document[name]);
    if (value === undefined) throw new CredentialError(`${origin}: the member ${name} is missing`);
    return value;
  };
  const subject = await readSubject(membersOf(document['credential_source']), origin, means, signal);
  const nowMs = means.clock.nowMs();
  const exchange = formOf({
    grant_type: tokenExchange,
    audience: member('audience'),
    scope: cloudScope,
    requested_token_type: accessToken,
    subject_token_type: member('subject_token_type'),
    subject_token: subject,
  });
  const url = filledText(document['token_url']) ?? usualExchangeUrl;
  const federated = readToken(await askGoogle(means, { url, method: 'POST', ...exchange }, { origin, signal }), { origin, nowMs });
  const impersonation = filledText(document['service_account_impersonation_url']);
  return impersonation === undefined ? federated : await impersonate(federated, impersonation, { origin, means, signal });
}

async function impersonate(
  { credential }: GoogleToken,
  url: string,
  { origin, means, signal }: { readonly origin: string; readonly means: CredentialMeans; readonly signal: AbortSignal },
): Promise<GoogleToken> {
  const bearer = credential.kind === 'bearer' ? credential.token : '';
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` };
  const members = await askGoogle(
    means,
    { url, method: 'POST', headers, body: JSON.stringify({ scope: [cloudScope] }) },
    { origin, signal },
  );
  const token = filledText(members['accessToken']);
  const expiresAtMs = Date.parse(filledText(members['expireTime']) ?? '');
  if (token === undefined || !Number.isFinite(expiresAtMs))
    throw new CredentialError(`${origin}: the answer has no accessToken with an end`);
  const identity = /serviceAccounts\/([^:/]+):/.exec(url)?.[1];
  return { credential: { kind: 'bearer', token }, origin, expiresAtMs, ...(identity === undefined ? {} : { identity }) };
}

/** The token of the other provider: from a file or an address, as text or as a member of JSON. */
async function readSubject(source: JsonObject, origin: string, means: CredentialMeans, signal: AbortSignal): Promise<string> {
  const file = filledText(source['file']);
  const url = filledText(source['url']);
  const text =
    file !== undefined
      ? await readNamedFile(`${origin}: credential_source`, file, means, signal)
      : await readUrl(url, source, { origin, means, signal });
  const format = membersOf(source['format']);
  const name = filledText(format['subject_token_field_name']);
  const token = format['type'] === 'json' ? filledText(membersOf(parseIfJson(text))[name ?? '']) : filledText(text.trim());
  if (token === undefined) throw new CredentialError(`${origin}: credential_source has no token${name === undefined ? '' : ` in ${name}`}`);
  return token;
}

async function readUrl(
  url: string | undefined,
  source: JsonObject,
  { origin, means, signal }: { readonly origin: string; readonly means: CredentialMeans; readonly signal: AbortSignal },
): Promise<string> {
  if (url === undefined)
    throw new CredentialError(`${origin}: credential_source must have file or url; AWS and executables are not supported`);
  const sent = Object.entries(membersOf(source['headers'])).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  const headers = Object.fromEntries(sent) as Record<string, string>;
  const reply = await means.ask({ url, method: 'GET', headers, isLocal: true }, signal).catch((cause: unknown) => {
    throw new CredentialError(`${origin}: the address of credential_source does not answer`, { cause });
  });
  if (reply.status !== 200) throw new CredentialError(`${origin}: the address of credential_source answers ${reply.status}`);
  return reply.body;
}
