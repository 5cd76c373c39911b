import type { RateLimits } from '../../accounts/access-limits.ts';
import type { AccountLevel } from '../../accounts/team.ts';

/**
 * The owner of rate limits: a key, a user or a team by its id, the organization by an empty one, a model by the name
 * that clients call.
 */
export type LimitOwner = { readonly scope: AccountLevel | 'model'; readonly id: string };

/** What one gateway counts against the limits of an owner, at one moment. */
export type LimitUse = LimitOwner & {
  /** Limits of its configuration: those of every key, or of the model. A key's own limits come before them. */
  readonly limits?: RateLimits;
  /** Calls and tokens of the last minute. */
  readonly requests: number;
  readonly tokens: number;
  /** Calls under way. */
  readonly concurrency: number;
  /** Milliseconds until none of them count, without further calls. Absent if none count. */
  readonly requestsFreeInMs?: number;
  readonly tokensFreeInMs?: number;
};

/** What a gateway counts for the owners that consoles have asked for. */
export type LimitAnswer = {
  /** The number of the newest question that it answers; it answers those before too. */
  readonly answered: number;
  readonly uses: readonly LimitUse[];
};

/** The state of one rate limit over all gateways. */
export type RateUse = {
  readonly scope: LimitOwner['scope'];
  readonly of: 'requests' | 'tokens' | 'concurrency';
  /** Each gateway admits as much. If their configurations differ, the lowest. */
  readonly limit: number;
  /** The part that is used in the gateway where most is; undefined if a gateway has not answered, or none runs. */
  readonly used?: number;
  /** Milliseconds until none of it is used, without further calls. Absent for calls under way, or if none is used. */
  readonly freeInMs?: number;
};

/** A limit of an owner that the database knows. */
export type KnownLimit = LimitOwner & { readonly of: RateUse['of']; readonly limit: number };

/** The answers of the gateways to one question. */
export type LimitUses = {
  /** One for each gateway that has answered. */
  readonly answers: readonly (readonly LimitUse[])[];
  /** The gateways that have not answered in time. */
  readonly silent: number;
};

const members = { requests: 'requestsPerMinute', tokens: 'tokensPerMinute', concurrency: 'concurrency' } as const;
const freeMembers = { requests: 'requestsFreeInMs', tokens: 'tokensFreeInMs' } as const;

/**
 * Joins the limits that the database knows with those of the configurations of gateways and what gateways count.
 * Limits of a configuration are known only if a gateway has answered.
 * @param owners the nearest first; limits are listed in this order
 */
export function joinLimitUse(
  owners: readonly LimitOwner[],
  known: readonly KnownLimit[],
  { answers, silent }: LimitUses,
): readonly RateUse[] {
  return owners.flatMap(({ scope, id }) => {
    const uses = answers.flatMap((answer) => answer.filter((use) => use.scope === scope && use.id === id));
    return (['requests', 'tokens', 'concurrency'] as const).flatMap((of): RateUse[] => {
      const own = known.find((each) => each.scope === scope && each.id === id && each.of === of)?.limit;
      const limit = own ?? lowest(uses.flatMap(({ limits }) => limits?.[members[of]] ?? []));
      if (limit === undefined) return [];
      if (silent > 0 || uses.length === 0) return [{ scope, of, limit }];
      const most = uses.reduce((one, other) => (other[of] > one[of] ? other : one));
      const freeInMs = of === 'concurrency' ? undefined : most[freeMembers[of]];
      return [{ scope, of, limit, used: most[of], ...(freeInMs !== undefined && { freeInMs }) }];
    });
  });
}

function lowest(limits: readonly number[]): number | undefined {
  return limits.length === 0 ? undefined : Math.min(...limits);
}
