import type { AccountFacts } from '../account-facts.ts';
import { awsCredential } from './aws/aws-credential.ts';
import { awsSchema, type AwsSettings } from './aws/aws-schema.ts';
import { azureCredential } from './azure/azure-credential.ts';
import { azureSchema, type AzureSettings } from './azure/azure-schema.ts';
import { googleCredential } from './google/google-credential.ts';
import { googleSchema, type GoogleSettings } from './google/google-schema.ts';
import type { CredentialKindOf } from './credential-kind.ts';
import type { CredentialMeans } from './credential-means.ts';
import type { CredentialSource } from './credential-source.ts';

/** The settings of each kind of credential: `credential` of an upstream, with the name of the kind in `kind`. */
type SettingsOf = { readonly aws: AwsSettings; readonly azure: AzureSettings; readonly google: GoogleSettings };

export type CredentialKind = keyof SettingsOf;
export type CredentialSettings = SettingsOf[CredentialKind];

/** The schemas of the kinds, for the configuration. */
export const credentialSchemas = [awsSchema, azureSchema, googleSchema] as const;

/** Every kind of credential, by its name in the configuration. */
const credentialKinds: { readonly [Kind in CredentialKind]: CredentialKindOf<SettingsOf[Kind]> } = {
  aws: awsCredential,
  azure: azureCredential,
  google: googleCredential,
};

/** Opens the source of a credential. */
export function openCredential(settings: CredentialSettings, facts: AccountFacts, means: CredentialMeans): CredentialSource {
  const kinds: Readonly<Record<CredentialKind, CredentialKindOf<never>>> = credentialKinds;
  // The settings have the kind of their row.
  return kinds[settings.kind].open(settings as never, facts, means);
}
