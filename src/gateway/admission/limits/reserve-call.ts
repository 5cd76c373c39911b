import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import { statisticsCounts } from '../../../billing/ledger/call-entry.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Clock } from '../../../platform/clock.ts';
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
 * Reserves a call's part of all its limits: those of its key, of the key's owner and of the model. Undefined if there
 * are none; a promise if another process counts.
 * @param perKey the limits of keys without own limits
 * @throws GatewayError `rate_limited` (429); then nothing was taken
 */
export function reserveCall(options: ReserveOptions & { readonly limiter: Limiter }): TakenLimits | undefined;
export function reserveCall(options: ReserveOptions): TakenLimits | Promise<TakenLimits> | undefined;
export function reserveCall(options: ReserveOptions): TakenLimits | Promise<TakenLimits> | undefined {
  const { caller, perKey, facts, model } = options;
  if (caller.limits === undefined && caller.userLimits === undefined && perKey === undefined && model === undefined) return undefined;
  const subjects: LimitedSubject[] = [];
  const ofKey = withDefaults(caller.limits, perKey);
  if (isRate(ofKey)) subjects.push({ scope: 'key', id: caller.id, limits: ofKey });
  if (isRate(caller.userLimits)) subjects.push({ scope: 'user', id: caller.userId, limits: caller.userLimits });
  if (model !== undefined) subjects.push({ scope: 'model', id: model.name, limits: model.limits });
  if (subjects.length === 0) return undefined;
  const tokens = estimateTokens(facts.inputCharacters) + (facts.outputTokensMax ?? defaultOutputTokens);
  const taken = options.limiter.reserve(subjects, tokens);
  const conclude = (answer: Reservation | LimitRefusal): TakenLimits => {
    const headers = options.voice.rateLimitHeaders(answer.state, options.clock.nowMs());
    if (answer.admitted) return { reservation: answer, headers };
    throw describeRefusal(answer, tokens, headers);
  };
  return taken instanceof Promise ? taken.then(conclude) : conclude(taken);
}

function withDefaults(own: RateLimits | undefined, perKey: RateLimits | undefined): RateLimits | undefined {
  if (own === undefined || perKey === undefined) return own ?? perKey;
  return { ...perKey, ...own };
}

function isRate(limits: RateLimits | undefined): limits is RateLimits {
  if (limits === undefined) return false;
  return limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined || limits.concurrency !== undefined;
}

const whose = { key: 'this API key', user: 'this user', model: 'this model' } as const;
const units = { requests: 'requests per minute', tokens: 'tokens per minute', concurrency: 'requests at a time' } as const;

function describeRefusal(refusal: LimitRefusal, tokens: number, shown: Readonly<Record<string, string>>): GatewayError {
  const { scope, of, limit, waitMs } = refusal;
  const reached = `Rate limit reached for ${whose[scope]}: ${limit} ${units[of]}.`;
  if (waitMs === Infinity) {
    // No wait would help, so clients should not retry.
    const message = `Request too large for ${whose[scope]}: it may use ${tokens} tokens and the limit is ${limit} tokens per minute. Shorten the input or ask for less output.`;
    return new GatewayError('rate_limited', message, {
      exceededLimit: { scope, of, limit },
      headers: { ...shown, 'x-should-retry': 'false' },
    });
  }
  const seconds = Math.max(1, Math.ceil(roundUpMs(waitMs) / 1000));
  return new GatewayError('rate_limited', `${reached} Please try again in ${seconds}s.`, {
    exceededLimit: { scope, of, limit },
    retryAfterSeconds: seconds,
    headers: shown,
  });
}

/** All tokens of a call, including cached input: the number that the limits count. */
export function countUsedTokens(usage: Usage): number {
  const { promptTokens, completionTokens } = statisticsCounts(usage);
  return promptTokens + completionTokens;
}
