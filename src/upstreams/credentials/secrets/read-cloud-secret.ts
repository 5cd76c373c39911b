import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import { CredentialError, type CredentialSource } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply, TokenRequest } from '../token-client.ts';
import type { SecretReference } from './secret-reference.ts';
import { SecretRefusedError } from './secret-store.ts';

/**
 * Asks a cloud with its credential, and once more with a new one if the service refuses it.
 * @param makeRequest adds the credential
 * @param isRefused whether the answer means that the credential is not accepted any longer
 * @throws CredentialError if there is no credential, or the service does not answer
 */
export async function askCloud<Credential>(
  credential: CredentialSource<Credential>,
  makeRequest: (credential: Credential) => TokenRequest,
  isRefused: (reply: TokenReply) => boolean,
  { means, signal }: { readonly means: Pick<CredentialMeans, 'ask'>; readonly signal: AbortSignal },
): Promise<TokenReply> {
  const ask = async (one: Credential): Promise<TokenReply> => {
    const request = makeRequest(one);
    try {
      return await means.ask(request, signal);
    } catch (cause) {
      throw new CredentialError(`${new URL(request.url).origin} does not answer`, { cause });
    }
  };
  const first = await credential.current(signal);
  const reply = await ask(first);
  if (!isRefused(reply)) return reply;
  credential.refused(first);
  const next = await credential.current(signal);
  return next === first ? reply : await ask(next);
}

/** The members of an answer in JSON; none if it is none. */
export const bodyOf = ({ body }: TokenReply): JsonObject => membersOf(parseIfJson(body));

/**
 * The secret itself, or the member of it that the reference names.
 * @throws SecretRefusedError without the secret in it
 */
export function pickMember(text: string, { member }: SecretReference): string {
  if (member === undefined) return text;
  const document = parseIfJson(text);
  const members = membersOf(document);
  const value = filledText(members[member]);
  if (value !== undefined) return value;
  const names = Object.keys(members).join(', ');
  throw new SecretRefusedError(
    names === ''
      ? `it is not a JSON object, so it has no member "${member}": leave out #${member}`
      : `"${member}" ${members[member] === undefined ? 'is not in it' : 'is not a text, or is empty'}; it has ${names}`,
  );
}
