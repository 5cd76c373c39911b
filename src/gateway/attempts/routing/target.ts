import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { UpstreamDialectId } from '../../../dialects/dialect-id.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';
import type { AccountFacts } from '../../../upstreams/account-facts.ts';
import type { CredentialSource } from '../../../upstreams/credentials/credential-source.ts';
import type { UpstreamServices } from '../../../upstreams/upstream-services.ts';
import type { BasePaths } from '../../../upstreams/fit-to-preset.ts';
import type { UpstreamRoute } from '../../../upstreams/upstream-route.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { GatewayTimeouts } from '../../settings/limits.ts';
import type { HealthSubject } from '../health/health.ts';
import type { TargetConditions } from './conditions.ts';

/** One configured upstream: a vendor account or a model server, with one of its credentials. */
export type Upstream = {
  /** The same for all credentials of an upstream. */
  readonly id: string;
  /** Identifies the credential without revealing it, and changes with it. */
  readonly credentialId: string;
  readonly vendor: UpstreamVendor;
  /** Scheme, host and port of the base address. */
  readonly origin: string;
  /** Path part of the base address, without a trailing slash. */
  readonly basePath: string;
  /** Path parts of dialects that have another base address. Absent: none has. */
  readonly basePaths?: BasePaths['basePaths'];
  readonly apiKey: string | undefined;
  /** The source of its short-lived credential, which all upstreams of an account share. Absent: it has none. */
  readonly credential?: CredentialSource | undefined;
  readonly facts: AccountFacts;
  /** The dialects of its models. In a target, those of the target's model. */
  readonly dialects: readonly UpstreamDialectId[];
  /** Whether the operator has chosen the dialects, for all models. Absent: no. */
  readonly hasOwnDialects?: boolean;
  /** Whether a client header passes, besides the vendor's own list. */
  readonly passesRequestHeader: (name: string) => boolean;
  /** The same for a translated call: headers of the client's vendor mean nothing to this one. */
  readonly passesForeignHeader: (name: string) => boolean;
  readonly passesReplyHeader: (name: string) => boolean;
  /**
   * The reply headers that the operator has listed. They also pass on translated calls. Undefined if none is listed.
   */
  readonly forwardsReplyHeader: ((name: string) => boolean) | undefined;
  readonly acceptsStreamOptions: boolean;
  /** Whether it accepts the spellings of its own clients, which the dialect's vendor refuses. */
  readonly takesOwnSpellings: boolean;
  /** Whether attempts carry idempotency keys, by which it recognises a repeated request. */
  readonly takesIdempotencyKeys: boolean;
  /** Whether requests may name objects that its vendor stores, regardless of their owner. */
  readonly passesStoredIds: boolean;
  /** Its services besides chats: those of its vendor, changed by the operator's quirks. */
  readonly services: UpstreamServices;
  /** The capabilities of a model, by its name here: the vendor's facts, changed by the operator's quirks. */
  readonly traitsOf: (upstreamModel: string) => ModelTraits;
  /** Whether the operator, and not the vendor, has set the window of its models. Absent: no. */
  readonly setsContext?: boolean;
  /**
   * The origin of the reasoning proofs that this upstream makes and accepts. Two upstreams with the same origin accept
   * each other's proofs.
   */
  readonly proofOrigin: string;
  readonly client: UpstreamClient;
};

/** Returns the path and query of a route at an upstream. Undefined if it has no such route. */
export function locateAt(
  upstream: Pick<Upstream, 'vendor' | 'facts' | 'basePath' | 'basePaths'>,
  route: UpstreamRoute,
): string | undefined {
  const path = upstream.vendor.locate(route, upstream.facts);
  return path === undefined ? undefined : (upstream.basePaths?.[route.dialect] ?? upstream.basePath) + path;
}

/** The path and query of a service at an upstream. @param path that of its `services` */
export function serviceAt(
  { vendor, facts, basePath }: Pick<Upstream, 'vendor' | 'facts' | 'basePath'>,
  path: string,
  upstreamModel: string,
): string {
  return basePath + (vendor.placeService?.(path, upstreamModel, facts) ?? path);
}

/** An upstream and the model's name there. */
export type Target = {
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  /** The model behind that name, if the operator says which: the model of a deployment or of a profile. */
  readonly is?: string | undefined;
  /** The configured model that this is a target of, if it has limits that all its callers share. */
  readonly model?: { readonly name: string; readonly limits: RateLimits };
  /**
   * Lower values are called first; targets with the same value share the calls. Default: the position in the list, from
   * 1.
   */
  readonly priority?: number;
  /** Its share of the calls of its priority, over 0. Default: 1. */
  readonly weight?: number;
  readonly when?: TargetConditions;
  /** Set if they differ from the settings. */
  readonly timeouts?: TargetTimeouts;
  /** The kind of the model, set by the operator. Absent: the known kind of the vendor's model. */
  readonly kind?: ModelKind;
};

/**
 * An upstream as a target of one model has it: with the dialects and traits of that model, where the upstream's models
 * differ or the operator names the model behind the name.
 */
export function upstreamAt(upstream: Upstream, upstreamModel: string, is: string | undefined): Upstream {
  const dialects = upstream.vendor.dialectsOf?.(is ?? upstreamModel, upstream.facts);
  const proofGroup = upstream.vendor.proofGroupOf?.(is ?? upstreamModel);
  if (is === undefined && dialects === undefined && proofGroup === undefined) return upstream;
  const { traitsOf, proofOrigin } = upstream;
  return {
    ...upstream,
    ...(dialects === undefined || dialects.length === 0 || upstream.hasOwnDialects === true ? {} : { dialects }),
    ...(proofGroup === undefined ? {} : { proofOrigin: `${proofOrigin}/${proofGroup}` }),
    ...(is === undefined ? {} : { traitsOf: (model: string) => traitsOf(model === upstreamModel ? is : model) }),
  };
}

export function subjectOf({ upstream, upstreamModel }: Target): HealthSubject {
  return { upstreamId: upstream.id, credentialId: upstream.credentialId, upstreamModel };
}

/** The time limits that may differ between targets. */
export type TimeoutOverrides = Partial<Pick<GatewayTimeouts, 'firstByteMs' | 'idleMs' | 'totalMs'>>;

/** All timeouts of a target, for streams and for whole replies. */
export type TargetTimeouts = { readonly stream: GatewayTimeouts; readonly whole: GatewayTimeouts };

/** Returns the timeouts of a target. Undefined if they are those of the settings. */
export type TimeoutRule = (
  upstream: { readonly vendor: UpstreamVendor; readonly traitsOf: (upstreamModel: string) => ModelTraits },
  upstreamModel: string,
  overrides?: TimeoutOverrides,
) => TargetTimeouts | undefined;

/**
 * A stream of a model that does not reason begins within seconds; after a minute it never will. Reasoning models and
 * whole replies are silent while they work.
 */
const promptFirstByteMs = 60_000;

/**
 * Makes the rule of a configuration. The settings of a target or its model override those for all, which override the
 * rule for streams.
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
