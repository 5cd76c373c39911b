import type { AccountFacts } from '../account-facts.ts';
import type { CredentialMeans } from './credential-means.ts';
import type { CredentialSource } from './credential-source.ts';

/** A kind of credential: where it comes from. Its settings are the part of the configuration that names the kind. */
export type CredentialKindOf<Settings> = {
  readonly title: string;
  /** Opens a source. It fetches nothing before the credential is needed. */
  readonly open: (settings: Settings, facts: AccountFacts, means: CredentialMeans) => CredentialSource;
};
