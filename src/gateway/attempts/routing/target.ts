import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';
import type { UpstreamServices } from '../../../upstreams/upstream-services.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { GatewayTimeouts } from '../../settings/limits.ts';
import type { HealthSubject } from '../health/health.ts';
import type { TargetConditions } from './conditions.ts';

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

/** The health subject of a target. */
export function subjectOf({ upstream, upstreamModel }: Target): HealthSubject {
  return { upstreamId: upstream.id, credentialId: upstream.credentialId, upstreamModel };
}

/** What may differ from target to target. */
export type TimeoutOverrides = Partial<Pick<GatewayTimeouts, 'firstByteMs' | 'idleMs' | 'totalMs'>>;

/** The timeouts of a target, complete, for streams and for whole replies. */
export type TargetTimeouts = { readonly stream: GatewayTimeouts; readonly whole: GatewayTimeouts };

/** Says which timeouts a target has: undefined where they are those of the settings. */
export type TimeoutRule = (
  upstream: { readonly vendor: UpstreamVendor; readonly traitsOf: (upstreamModel: string) => ModelTraits },
  upstreamModel: string,
  overrides?: TimeoutOverrides,
) => TargetTimeouts | undefined;

/**
 * A stream of a model that does not think begins within seconds; one that has not after a minute will not. Models that think and whole replies
 * are silent for as long as they work.
 */
const promptFirstByteMs = 60_000;

/**
 * Makes the rule of a configuration. What a target or its model sets beats what is set for all, which beats the rule for streams.
 * @param isFirstByteSet whether the operator set `firstByteMs` for all
 */
export function createTimeoutRule(timeouts: GatewayTimeouts, isFirstByteSet: boolean): TimeoutRule {
  const prompt: TargetTimeouts = { stream: { ...timeouts, firstByteMs: promptFirstByteMs }, whole: timeouts };
  return (upstream, upstreamModel, overrides) => {
    const isPrompt = !isFirstByteSet && answersPromptly(upstream.vendor, upstream.traitsOf(upstreamModel));
    const usual = isPrompt ? prompt : undefined;
    if (overrides === undefined || Object.keys(overrides).length === 0) return usual;
    return { stream: { ...(usual?.stream ?? timeouts), ...overrides }, whole: { ...timeouts, ...overrides } };
  };
}

function answersPromptly({ answersLate }: UpstreamVendor, { reasoning, alwaysReasons }: ModelTraits): boolean {
  return answersLate !== true && reasoning === 'none' && !alwaysReasons;
}

/** The timeouts of a call at a target. `settings` are those of the configuration. */
export function timeoutsOf(
  target: { readonly timeouts?: TargetTimeouts | undefined },
  stream: boolean,
  settings: GatewayTimeouts,
): GatewayTimeouts {
  const { timeouts } = target;
  if (timeouts === undefined) return settings;
  return stream ? timeouts.stream : timeouts.whole;
}
