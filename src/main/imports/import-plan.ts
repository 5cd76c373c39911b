import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { Config } from '../config/config-schema.ts';

export type PlannedUpstream = NonNullable<Config['upstreams']>[string];
export type PlannedModel = NonNullable<Config['models']>[string];
export type PlannedTarget = PlannedModel['targets'][number];

export type PlannedTeam = { readonly name: string; readonly limits: AccessLimits };

export type PlannedUser = {
  readonly name: string;
  readonly team?: string;
  readonly limits: AccessLimits;
  /** USD on the balance of a prepaid user, as a decimal string above 0, and the reference of the posting. */
  readonly balance?: { readonly usd: string; readonly reference: string };
};

export type PlannedKey = {
  readonly user: string;
  readonly name: string;
  readonly secret: { readonly plain: string } | { readonly sha256: string; readonly endsIn: string };
  readonly limits: AccessLimits;
  readonly isDisabled: boolean;
};

/** What differs in Weir, or was left out, and why. */
export type ImportNote = {
  readonly kind: 'changed' | 'left out';
  /** The part of the other gateway's configuration, such as `model_list[3]`, `key ci`. */
  readonly what: string;
  readonly why: string;
};

/** What an import would make: parts of weir.yaml, and accounts in the order in which they are made. */
export type ImportPlan = {
  readonly config: Pick<Config, 'upstreams' | 'models' | 'timeouts'>;
  readonly teams: readonly PlannedTeam[];
  readonly users: readonly PlannedUser[];
  readonly keys: readonly PlannedKey[];
  readonly notes: readonly ImportNote[];
  /** Variables of the environment that the configuration refers to. */
  readonly variables: readonly string[];
};

/** A file that is not what the command expects. The message says what is wrong, and what was expected. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}
