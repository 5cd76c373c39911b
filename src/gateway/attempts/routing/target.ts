import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { UpstreamServices } from '../../../upstreams/upstream-services.ts';
import type { TargetConditions } from './conditions.ts';
import type { TargetTimeouts } from './target-timeouts.ts';

/** One configured upstream: a vendor account or model server, reached with one of its credentials. */
export type Upstream = {
  /** The same for all credentials of an upstream. */
  readonly id: string;
  /** Names the credential without telling anything of it, and changes with it. */
  readonly credentialId: string;
  readonly vendor: UpstreamVendor;
  /** Scheme, host and port of the base address. */
  readonly origin: string;
  /** Path part of the base address, without a trailing slash. */
  readonly basePath: string;
  readonly apiKey: string | undefined;
  readonly dialects: readonly DialectId[];
  /** Tells which client headers pass besides the vendor's own list. */
  readonly passesRequestHeader: (name: string) => boolean;
  /** The same for a call that is translated: headers of the client's own vendor mean nothing to this one. */
  readonly passesForeignHeader: (name: string) => boolean;
  readonly passesReplyHeader: (name: string) => boolean;
  /** Those among them that the operator has listed: they pass on translated calls too. Undefined where none is listed. */
  readonly forwardsReplyHeader: ((name: string) => boolean) | undefined;
  readonly acceptsStreamOptions: boolean;
  /** Whether it takes the spellings of its own clients, which the dialect's vendor refuses. */
  readonly takesOwnSpellings: boolean;
  /** Whether attempts carry keys by which it knows one that is repeated. */
  readonly takesIdempotencyKeys: boolean;
  /** Whether requests may name what its vendor keeps, regardless of its owner. */
  readonly passesStoredIds: boolean;
  /** What it offers beside chats: its vendor's services with the operator's quirks over them. */
  readonly services: UpstreamServices;
  /** What a model accepts here, by its name here: the vendor's facts with the operator's quirks over them. */
  readonly traitsOf: (upstreamModel: string) => ModelTraits;
  /** Whether the window of its models is the operator's own figure and no fact of the vendor's. Absent: no. */
  readonly setsContext?: boolean;
  /** Whose proofs of reasoning this upstream makes and accepts. Equal at two upstreams exactly if one takes the other's. */
  readonly proofOrigin: string;
  readonly client: UpstreamClient;
};

/** An upstream and the name that the model has there. */
export type Target = {
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  /** The model of the configuration that this is a target of, where it has limits: what all its callers may use together. */
  readonly model?: { readonly name: string; readonly limits: RateLimits };
  /** Lower is tried first; targets of the same share the calls. Default: the place in the list, from 1. */
  readonly priority?: number;
  /** Its part of the calls of its priority, over 0. Default: 1. */
  readonly weight?: number;
  readonly when?: TargetConditions;
  /** Set where they are not those of the settings. */
  readonly timeouts?: TargetTimeouts;
  /** What the operator says that the model is for. Absent: what is known of its vendor's models. */
  readonly kind?: ModelKind;
};
