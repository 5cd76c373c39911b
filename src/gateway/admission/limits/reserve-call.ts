import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import { statisticsCounts } from '../../../billing/ledger/call-entry.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Clock } from '../../../platform/clock.ts';
import { nameLevel } from '../name-level.ts';
import { type LimitedSubject, type Limiter, type LimitRefusal, type Reservation, roundUpMs, type SharedLimiter } from './limiter.ts';

/** The output that is reserved for a call without a bound. Further output is counted when it is known. */
const defaultOutputTokens = 1024;

/** A call's reservation, and the headers that show its client the remaining limits. */
export type TakenLimits = { readonly reservation: Reservation; readonly headers: Readonly<Record<string, string>> };

type ReserveOptions = {
  readonly limiter: SharedLimiter;
  readonly clock: Clock;
  readonly voice: Pick<ErrorVoice, 'rateLimitHeaders'>;
  readonly caller: ApiKey;
  readonly perKey: RateLimits | undefined;
  readonly facts: CallFacts;
  /** The model of the call, if it has limits of its own. */
  readonly model: { readonly name: string; readonly limits: RateLimits } | undefined;
};

/**
 * Reserves a call's part of all its limits: those of its key, of the levels above the key, and of the model. Undefined
 * if there are none; a promise if another process counts.
 * @param perKey the limits of keys without own limits
 * @throws GatewayError `rate_limited` (429); then nothing was taken
 */
export function reserveCall(options: ReserveOptions & { readonly limiter: Limiter }): TakenLimits | undefined;
export function reserveCall(options: ReserveOptions): TakenLimits | Promise<TakenLimits> | undefined;
export function reserveCall(options: ReserveOptions): TakenLimits | Promise<TakenLimits> | undefined {
  const { caller, perKey, facts, model } = options;
  if (!isLimited(caller) && perKey === undefined && model === undefined) return undefined;
  const subjects: LimitedSubject[] = [];
  const ofKey = withDefaults(caller.limits, perKey);
  if (isRate(ofKey)) subjects.push({ scope: 'key', id: caller.id, limits: ofKey });
  if (isRate(caller.userLimits)) subjects.push({ scope: 'user', id: caller.userId, limits: caller.userLimits });
  const { team, organizationLimits } = caller;
  if (team !== undefined && isRate(team.limits)) subjects.push({ scope: 'team', id: team.id, limits: team.limits });
  if (isRate(organizationLimits)) subjects.push({ scope: 'organization', id: '', limits: organizationLimits });
  if (model !== undefined) subjects.push({ scope: 'model', id: model.name, limits: model.limits });
  if (subjects.length === 0) return undefined;
  const tokens = estimateTokens(facts.inputCharacters) + (facts.outputTokensMax ?? defaultOutputTokens);
  const taken = options.limiter.reserve(subjects, tokens);
  const conclude = (answer: Reservation | LimitRefusal): TakenLimits => {
    const headers = options.voice.rateLimitHeaders(answer.state, options.clock.nowMs());
    if (answer.admitted) return { reservation: answer, headers };
    throw describeRefusal(answer, caller, headers);
  };
  return taken instanceof Promise ? taken.then(conclude) : conclude(taken);
}

function isLimited({ limits, userLimits, team, organizationLimits }: ApiKey): boolean {
  return (limits ?? userLimits ?? team?.limits ?? organizationLimits) !== undefined;
}

function withDefaults(own: RateLimits | undefined, perKey: RateLimits | undefined): RateLimits | undefined {
  if (own === undefined || perKey === undefined) return own ?? perKey;
  return { ...perKey, ...own };
}

function isRate(limits: RateLimits | undefined): limits is RateLimits {
  if (limits === undefined) return false;
  return limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined || limits.concurrency !== undefined;
}

const units = { requests: 'requests per minute', tokens: 'tokens per minute', concurrency: 'requests at a time' } as const;

function describeRefusal(refusal: LimitRefusal, { team }: ApiKey, shown: Readonly<Record<string, string>>): GatewayError {
  const { scope, of, limit, used, needed, waitMs } = refusal;
  const whose = scope === 'model' ? 'this model' : nameLevel(scope, team);
  const exceededLimit = { scope, of, limit, used, needed };
  if (waitMs === Infinity) {
    // No wait would help, so clients should not retry.
    const message = `Request too large for ${whose}: it may use ${needed} tokens and the limit is ${limit} tokens per minute. Shorten the input or ask for less output.`;
    return new GatewayError('rate_limited', message, { exceededLimit, headers: { ...shown, 'x-should-retry': 'false' } });
  }
  const seconds = Math.max(1, Math.ceil(roundUpMs(waitMs) / 1000));
  const reached = `Rate limit reached for ${whose}: ${limit} ${units[of]}, used ${used}, requested ${needed}.`;
  return new GatewayError('rate_limited', `${reached} Please try again in ${seconds}s.`, {
    exceededLimit,
    retryAfterSeconds: seconds,
    headers: shown,
  });
}

/** All tokens of a call, including cached input: the number that the limits count. */
export function countUsedTokens(usage: Usage): number {
  const { promptTokens, completionTokens } = statisticsCounts(usage);
  return promptTokens + completionTokens;
}
