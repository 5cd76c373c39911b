import type { AccountFacts } from '../../account-facts.ts';
import type { AwsKeys } from '../cloud-credential.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import type { TokenReply, TokenRequest } from '../token-client.ts';
import type { AwsSettings } from './aws-schema.ts';
import { dnsSuffixOf } from './regions.ts';
import { type FoundKeys, readStsReply } from './read-keys.ts';
import { createAwsSigner } from './sign-request.ts';

type Sts = {
  readonly settings: AwsSettings;
  readonly facts: AccountFacts;
  readonly means: CredentialMeans;
  readonly signal: AbortSignal;
};

const usualRegion = 'us-east-1';

/** The region of an account: its own, else that of the environment, else the one that AWS's tools assume. */
function regionOf({ facts, means }: Pick<Sts, 'facts' | 'means'>): string {
  return facts.region ?? means.variable('AWS_REGION') ?? means.variable('AWS_DEFAULT_REGION') ?? usualRegion;
}

/** The address of the token service: the configured one, that of the environment, or that of the region. */
export function stsUrlOf(sts: Sts): string {
  const { settings, means } = sts;
  const region = regionOf(sts);
  const url = settings.stsUrl ?? means.variable('AWS_ENDPOINT_URL_STS') ?? `https://sts.${region}.${dnsSuffixOf(region)}`;
  return `${url.replace(/\/+$/, '')}/`;
}

/** Asks the token service. @throws CredentialError if it does not answer */
export async function askSts(means: Pick<CredentialMeans, 'ask'>, request: TokenRequest, signal: AbortSignal): Promise<TokenReply> {
  try {
    return await means.ask(request, signal);
  } catch (cause) {
    throw new CredentialError(`STS at ${new URL(request.url).origin} does not answer`, { cause });
  }
}

/** Assumes a role with keys that were found. @throws CredentialError with the reason of the service */
export async function assumeRole(sts: Sts, roleArn: string, keys: AwsKeys): Promise<FoundKeys> {
  const { settings, means, signal } = sts;
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'weir',
    ...(settings.externalId === undefined ? {} : { ExternalId: settings.externalId }),
  });
  const url = new URL(stsUrlOf(sts));
  const body = Buffer.from(form.toString());
  const sign = createAwsSigner({ region: regionOf(sts), service: 'sts' });
  const signed = sign({ method: 'POST', path: url.pathname, host: url.host, body }, keys, means.clock.nowMs());
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/xml', ...signed };
  const reply = await askSts(means, { url: url.href, method: 'POST', headers, body: body.toString() }, signal);
  return readStsReply(reply.status, reply.body, `AssumeRole for ${roleArn}`);
}
