import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { AwsKeys } from '../cloud-credential.ts';
import { CredentialError } from '../credential-source.ts';
import type { FetchedCredential } from '../refresh-credentials.ts';

export type FoundKeys = FetchedCredential<AwsKeys>;

export function keysOf(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): AwsKeys {
  return { kind: 'aws-keys', accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/**
 * Reads keys as AWS's services and `credential_process` write them in JSON. @param from names the place in messages
 * @throws CredentialError that names the missing member, and never a value
 */
export function readKeysJson(text: string, from: string): FoundKeys {
  const body = parseObject(text, from);
  const member = (...names: readonly string[]): string | undefined => {
    const value = names.map((name) => body[name]).find((found) => typeof found === 'string' && found !== '');
    return typeof value === 'string' ? value : undefined;
  };
  const id = member('AccessKeyId');
  const secret = member('SecretAccessKey');
  if (id === undefined || secret === undefined)
    throw new CredentialError(`${from} answered without ${id === undefined ? 'AccessKeyId' : 'SecretAccessKey'}`);
  const expiration = member('Expiration');
  return {
    credential: keysOf(id, secret, member('Token', 'SessionToken')),
    ...(expiration === undefined ? {} : { expiresAtMs: readTime(expiration, from) }),
  };
}

function parseObject(text: string, from: string): JsonObject {
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    // The text may be a secret, so it is not repeated.
  }
  throw new CredentialError(`${from} answered with something that is not a JSON object`);
}

function readTime(text: string, from: string): number {
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) throw new CredentialError(`${from} answered with an end that is not a time`);
  return atMs;
}

/** The text of the first element with this name in an XML reply of STS, which nests none of the same name. */
function textOfElement(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

/**
 * Reads the reply of STS to AssumeRole and AssumeRoleWithWebIdentity. @throws CredentialError with the service's reason
 */
export function readStsReply(status: number, xml: string, what: string): FoundKeys {
  const id = textOfElement(xml, 'AccessKeyId');
  const secret = textOfElement(xml, 'SecretAccessKey');
  if (status !== 200 || id === undefined || secret === undefined) {
    const reason = [textOfElement(xml, 'Code'), textOfElement(xml, 'Message')].filter((part) => part !== undefined).join(': ');
    throw new CredentialError(`STS refused ${what} with status ${status}${reason === '' ? '' : ` (${reason.slice(0, 300)})`}`);
  }
  const expiration = textOfElement(xml, 'Expiration');
  const identity = textOfElement(xml, 'Arn');
  return {
    credential: keysOf(id, secret, textOfElement(xml, 'SessionToken')),
    ...(expiration === undefined ? {} : { expiresAtMs: readTime(expiration, 'STS') }),
    ...(identity === undefined ? {} : { identity }),
  };
}
