import type { AccountFacts } from '../../account-facts.ts';
import type { AwsKeys, CloudCredential } from '../cloud-credential.ts';
import type { CredentialKindOf } from '../credential-kind.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError, type CredentialSource } from '../credential-source.ts';
import { type FetchedCredential, refreshCredentials } from '../refresh-credentials.ts';
import type { AwsSettings } from './aws-schema.ts';
import { fromBearerVariable, fromContainer, fromEnvironment, fromInstance, fromProfile, fromWebIdentity, type Search } from './places.ts';
import { keysOf } from './read-keys.ts';
import { assumeRole } from './sts.ts';

/** The places with credentials, in the order of AWS's own SDKs. */
const places = {
  'api-key': fromBearerVariable,
  environment: fromEnvironment,
  'web-identity': fromWebIdentity,
  profile: fromProfile,
  container: fromContainer,
  instance: fromInstance,
} satisfies Record<NonNullable<AwsSettings['from']>, unknown>;

/** Credentials of AWS: those of the configuration, or of the places where AWS's own tools look for them. */
export const awsCredential: CredentialKindOf<AwsSettings> = {
  title: 'AWS',
  open: (settings, facts: AccountFacts, means) =>
    refreshCredentials<CloudCredential>({
      clock: means.clock,
      watch: means.watch,
      fetch: (signal) => fetchKeys({ settings, facts, means, signal }),
    }),
};

type Found = FetchedCredential<CloudCredential>;

/** Keys that sign requests to any service of AWS: an API key of Bedrock in the environment does not count. */
export function openAwsKeys(settings: AwsSettings, facts: AccountFacts, means: CredentialMeans): CredentialSource<AwsKeys> {
  return refreshCredentials<AwsKeys>({
    clock: means.clock,
    fetch: async (signal) => {
      const { credential, ...found } = await fetchKeys({ settings, facts, means, signal }, 'api-key');
      if (credential.kind !== 'aws-keys') throw new CredentialError('an API key of Bedrock cannot sign requests to other services');
      return { ...found, credential };
    },
  });
}

/** @param leftOut a place that is not searched */
async function fetchKeys(search: Search, leftOut?: keyof typeof places): Promise<Found> {
  const found = await findKeys(search, leftOut);
  const { roleArn } = search.settings;
  if (roleArn === undefined) return found;
  if (found.credential.kind !== 'aws-keys')
    throw new CredentialError('roleArn needs access keys, and AWS_BEARER_TOKEN_BEDROCK is set: unset it, or choose a place with `from`');
  const assumed = await assumeRole(search, roleArn, found.credential);
  return { ...assumed, origin: `role, assumed with ${found.origin ?? 'found'} credentials` };
}

async function findKeys(search: Search, leftOut: keyof typeof places | undefined): Promise<Found> {
  const { accessKeyId, secretAccessKey, sessionToken, from, profile } = search.settings;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { origin: 'configuration', credential: keysOf(accessKeyId, secretAccessKey, sessionToken) };
  const only = from ?? (profile === undefined ? undefined : 'profile');
  for (const [name, place] of Object.entries(places)) {
    if (name === leftOut || (only !== undefined && name !== only)) continue;
    const found = await place(search);
    if (found !== undefined) return found;
  }
  throw new CredentialError(
    only === undefined
      ? 'no AWS credentials were found: not in AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE, ~/.aws, the container service or the metadata of the instance'
      : `no AWS credentials were found in the only place that is allowed (${only})`,
  );
}
