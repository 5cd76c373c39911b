import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallEntry, CallOpening, FailedAttempt } from '../../../billing/ledger/call-entry.ts';
import { countInput } from '../../../inference/meters.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { openCall } from '../../attempts/books/open-call.ts';
import { boundDearest } from '../../attempts/books/bound-call.ts';
import { type CallCredit, takeCredit } from '../../admission/credits/call-credit.ts';
import type { ClientWatch } from '../../attempts/disconnect/client-watch.ts';
import { describeLeaving, endLeft, reportsUsage } from '../../attempts/disconnect/describe-leaving.ts';
import type { Outcome } from '../../attempts/exchange/exchange-context.ts';
import { scrubText } from '../../attempts/exchange/scrub-credential.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { type AskingCall, createAskingCall, digestRequest } from '../../attempts/health/asking-call.ts';
import { mayCall } from '../../admission/check-caller.ts';
import { countUsedTokens, reserveCall } from '../../admission/limits/reserve-call.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import { readPrices } from '../../attempts/books/read-prices.ts';
import { decideRetry, isWithinReach, type RetryReach } from '../../attempts/retry/retry-policy.ts';
import { isWorthTrying, seeHealth } from '../../attempts/retry/see-health.ts';
import { AttemptKeys } from '../../attempts/retry/attempt-keys.ts';
import { forbidsRetry, parseRetryAfter } from '../../attempts/retry/parse-retry-after.ts';
import { alwaysHealthy } from '../../attempts/routing/always-healthy.ts';
import { notAChat } from '../../attempts/routing/not-a-chat.ts';
import { rankTargets, unknownModel } from '../../attempts/routing/rank-targets.ts';
import { subjectOf } from '../../attempts/routing/route.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { settleCall, type UsageBound } from '../../attempts/books/settle.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { askTarget, type WholeAnswer } from '../../attempts/exchange/ask-target.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { type EmbeddingsReply, readEmbeddingsReply, tellCharged } from './read-reply.ts';

/** A request for embeddings, of a client or of the gateway's own search. */
export type EmbedCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly body: JsonObject;
  /** Headers of the client, which pass where the upstream takes them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** Aborts when the upstream is to be stopped. */
  readonly signal: AbortSignal;
  /** Absent for what no client waits for. */
  readonly client?: ClientWatch;
  /** Absent for what no client asked for. */
  readonly report?: CallReport;
};

export type Embedded = { readonly body: JsonObject; readonly headers: Readonly<Record<string, string>> };

/**
 * Makes one call for embeddings: routed by model like any other, tried at one target after the other, limited, and settled once in the books.
 * @throws GatewayError
 */
export async function embed(gateway: EmbeddingServices, call: EmbedCall): Promise<Embedded> {
  const { caller, body } = call;
  const settings = gateway.settings();
  const { requestedModel, inputCharacters, encoding } = readEmbeddings(body);
  const facts: CallFacts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  if (call.report !== undefined) call.report.facts = facts;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, settings.routing, (model) => mayCall(caller, model));
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  const request = { operation: 'generate', body, headers: call.headers } as const;
  const ranking = {
    table: settings.routing,
    dialect: notAChat,
    facts,
    request,
    caller,
    kind: 'embeddings',
    health,
    nowMs: gateway.clock.monotonicMs(),
    random: gateway.random,
  } as const;
  const targets = rankTargets(ranking).filter(({ upstream }) => upstream.vendor.embeddingsPath !== undefined);
  if (targets.length === 0)
    throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} makes embeddings`, { param: 'model' });
  const { limiter, clock } = gateway;
  const taken = await reserveCall({
    limiter,
    clock,
    voice: chatDialects['openai-chat'].voice,
    caller,
    perKey: settings.perKey,
    facts,
    model: targets[0]?.model,
  });
  const { priceBook } = settings.routing;
  let credit: CallCredit | undefined;
  let attempts: EmbedAttempts | undefined;
  try {
    credit = await takeCredit(gateway, caller, call.acceptedAtMs, () => {
      const bounds = boundEmbeddings(body, inputCharacters);
      const purchase = { priceBook, requestedModel, acceptedAtMs: call.acceptedAtMs };
      return boundDearest({ ...purchase, userName: caller.userName, keyId: caller.id }, targets, () => bounds);
    });
    attempts = new EmbedAttempts(gateway, call, { facts, credit, priceBook, encoding });
    const reply = await attempts.run(targets);
    return { body: reply.body, headers: { ...taken?.headers } };
  } finally {
    // What failed is not charged, and does not count.
    taken?.reservation.settle(attempts?.usedTokens ?? 0);
    credit?.end();
  }
}

/** What is known of a call before its first attempt. */
type KnownEmbedding = {
  readonly facts: CallFacts;
  readonly credit: CallCredit | undefined;
  /** What it is held by: a reload of the prices changes no call under way. */
  readonly priceBook: PriceBook;
  readonly encoding: 'float' | 'base64';
};

/** The attempts of one call. */
class EmbedAttempts {
  readonly #gateway: EmbeddingServices;
  readonly #call: EmbedCall;
  readonly #known: KnownEmbedding;
  readonly #failed: FailedAttempt[] = [];
  /** Lets health count the attempts of one call once. */
  readonly #asking: AskingCall;
  readonly #keys: AttemptKeys;
  #usedTokens = 0;

  constructor(gateway: EmbeddingServices, call: EmbedCall, known: KnownEmbedding) {
    this.#gateway = gateway;
    this.#call = call;
    this.#known = known;
    this.#keys = new AttemptKeys(call.callId);
    this.#asking = createAskingCall(call.caller.userId, () => digestRequest(Buffer.from(JSON.stringify(call.body))));
  }

  /** Tokens that are charged for it, once it is in the books. */
  get usedTokens(): number {
    return this.#usedTokens;
  }

  async run(targets: readonly Target[]): Promise<EmbeddingsReply> {
    const { attemptsMax } = this.#gateway.settings().retries;
    let waiting = [...targets];
    for (;;) {
      const [target, ...others] = waiting;
      if (target === undefined) throw new Error('a call for embeddings ran out of targets without an answer');
      const attempt = await this.#attempt(target, others, attemptsMax);
      if ('reply' in attempt) return attempt.reply;
      waiting = [...attempt.next];
    }
  }

  /** Tries one target. @throws GatewayError for a failure that no other target can mend; it is in the books then */
  async #attempt(
    target: Target,
    others: readonly Target[],
    attemptsMax: number,
  ): Promise<{ readonly reply: EmbeddingsReply } | { readonly next: readonly Target[] }> {
    const { clock, journal, health, random, retryBudget } = this.#gateway;
    const opening = await this.#open(target);
    const ticket = health.of(subjectOf(target)).begin(this.#asking);
    const startedMs = clock.monotonicMs();
    let answer: WholeAnswer | undefined;
    let upstreamStatus: number | undefined;
    try {
      const onHead = (status: number): void => {
        upstreamStatus = status;
        journal.head(opening.callId, { status });
        ticket.headArrived();
      };
      this.#call.client?.asks();
      answer = await this.#ask(target, onHead);
      const reply = this.#read(answer, target);
      ticket.end({ type: 'answered' });
      retryBudget.succeeded(target.upstream.id);
      const { usage, estimated } = await this.#settle(opening, { end: 'finished', report: reply.report, complete: true }, upstreamStatus);
      return { reply: estimated ? tellCharged(reply, usage) : reply };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const hasLeft = this.#call.signal.aborted || this.#call.client?.left !== undefined;
      const decision = decideRetry(describeFailure(error, answer, clock.nowMs(), this.#failed.length + 1, hasLeft), random);
      ticket.end(decision.verdict);
      const next = decision.retry ? this.#withinReach(target, others, decision.reach) : [];
      const [first] = next;
      const mayGoOn = decision.retry && first !== undefined && this.#failed.length + 1 < attemptsMax;
      if (!mayGoOn || !retryBudget.takeFailover(first.upstream.id, decision.cost)) {
        await this.#settle(opening, endBroken(error, answer, hasLeft ? upstreamStatus : undefined), upstreamStatus);
        throw error;
      }
      this.#failed.push(this.#describeAttempt(target, error, upstreamStatus, clock.monotonicMs() - startedMs));
      // Always another target.
      this.#keys.renew();
      return { next };
    }
  }

  /** The targets that are worth trying after one has failed. */
  #withinReach(failed: Target, others: readonly Target[], reach: RetryReach): readonly Target[] {
    const see = seeHealth(this.#gateway, this.#gateway.settings(), this.#asking);
    return others.filter((other) => isWithinReach(reach, subjectOf(failed), subjectOf(other)) && isWorthTrying(see(other)));
  }

  #open(target: Target): Promise<CallOpening> {
    const { callId, acceptedAtMs, caller } = this.#call;
    const { journal } = this.#gateway;
    const { priceBook } = this.#known;
    readPrices(priceBook, { target, requestedModel: this.#known.facts.requestedModel, acceptedAtMs }, undefined);
    const priceVersion = priceBook.version;
    const failedAttempts = this.#failed.length === 0 ? undefined : [...this.#failed];
    this.#call.report?.exchanging();
    const { facts, credit } = this.#known;
    return openCall({
      callId,
      acceptedAtMs,
      caller,
      dialect: 'openai-embeddings',
      facts,
      target,
      priceVersion,
      journal,
      failedAttempts,
      credit,
    });
  }

  #ask(target: Target, onHead: (status: number) => void): Promise<WholeAnswer> {
    const { upstream, upstreamModel } = target;
    const { body, headers: own, signal } = this.#call;
    const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
    const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
    const path = `${upstream.basePath}${upstream.vendor.embeddingsPath ?? ''}`;
    // Clients write null for what they leave out; the vendors refuse it.
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
    const sent = Buffer.from(JSON.stringify({ ...given, model: upstreamModel }));
    const { timeouts, limits } = this.#gateway.settings();
    const request = this.#keys.sign(target, { path, method: 'POST', headers, body: sent });
    return askTarget(target, request, { timeouts, limits, signal, onHead });
  }

  #read(answer: WholeAnswer, target: Target): EmbeddingsReply {
    const { status, body } = answer;
    if (status < 200 || status > 299) throw describeRefusal(answer, target);
    const { encoding, facts } = this.#known;
    const reply = readEmbeddingsReply(body, encoding, facts.requestedModel);
    if (reply !== undefined) return reply;
    throw new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply holds no embeddings.", {
      internal: `${target.upstream.id} answered ${status} with ${body.length} bytes`,
    });
  }

  /** Writes the call into the books. */
  #settle(opening: CallOpening, told: Outcome, upstreamStatus: number | undefined): Promise<CallEntry> {
    const { journal, clock } = this.#gateway;
    const { priceBook } = this.#known;
    const durationMs = Math.round(clock.monotonicMs() - this.#call.startedMs);
    const left = this.#call.client?.left;
    const outcome = left === undefined ? told : endLeft(told);
    const charged = settleCall(
      opening,
      outcome,
      { upstreamStatus, durationMs },
      { priceBook, keepsReply: false, bound: this.#boundUsage(opening) },
    );
    const entry = left === undefined ? charged : { ...charged, disconnect: describeLeaving(left, reportsUsage(outcome), durationMs) };
    this.#usedTokens = countUsedTokens(entry.usage);
    this.#known.credit?.charge(entry);
    return new Promise((resolve) => {
      journal.done(entry, () => resolve(entry));
      this.#call.report?.settled(entry, outcome.error);
    });
  }

  #boundUsage({ vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId }: CallOpening): UsageBound {
    const { priceBook, facts } = this.#known;
    return {
      // A text has more characters than tokens, nearly always.
      isSuspicious: (usage) => countInput(usage) > facts.inputCharacters || (usage.outputTokens ?? 0) > 0,
      find: () => {
        const { most } = boundEmbeddings(this.#call.body, facts.inputCharacters);
        const nanoUsd = priceBook.most({ vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, most });
        return { most, nanoUsd, provesCounts: true };
      },
    };
  }

  #describeAttempt(
    { upstream, upstreamModel }: Target,
    error: GatewayError,
    upstreamStatus: number | undefined,
    durationMs: number,
  ): FailedAttempt {
    return {
      upstream: upstream.id,
      credential: upstream.credentialId,
      upstreamModel,
      ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
      errorCode: error.code,
      durationMs: Math.round(durationMs),
    };
  }
}

/**
 * How a call ends that broke. It is free, unless its client left while the answer of its upstream was on its way: then it has done its work.
 * @param answeredStatus what the upstream of a client that has left has said before the end of its answer
 */
function endBroken(error: GatewayError, answer: WholeAnswer | undefined, answeredStatus: number | undefined): Outcome {
  const isAtWork = answer === undefined && answeredStatus !== undefined && answeredStatus >= 200 && answeredStatus < 300;
  return isAtWork ? { end: 'client-left', complete: false } : { end: 'failed', complete: false, error };
}

function describeFailure(error: GatewayError, answer: WholeAnswer | undefined, nowMs: number, attempt: number, hasClientLeft: boolean) {
  const known = { error, attempt, isDelivered: false, hasClientLeft };
  if (answer === undefined) return known;
  const retryAfterMs = parseRetryAfter(answer.headers, nowMs);
  const isRetryForbidden = forbidsRetry(answer.headers);
  return { ...known, upstreamStatus: answer.status, isRetryForbidden, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const refusalCharactersMax = 2000;

/** Words an upstream's refusal for the client, in the upstream's own words where they are about the request. */
function describeRefusal({ status, body }: WholeAnswer, { upstream }: Target): GatewayError {
  const internal = `${upstream.id} answered ${status}`;
  if (status === 401 || status === 407) {
    const message = 'the model service refuses the gateway; its operator has to renew the credential';
    return new GatewayError('upstream_credentials_rejected', message, { internal });
  }
  const error = parseJsonObject(body)?.['error'];
  const said = typeof error === 'object' && error !== null && 'message' in error ? error['message'] : undefined;
  const words =
    typeof said === 'string' ? scrubText(said, upstream.apiKey).slice(0, refusalCharactersMax) : `the model service answered ${status}`;
  if (status === 429) return new GatewayError('upstream_rate_limited', words, { internal });
  if (status >= 400 && status < 500) return new GatewayError('upstream_refused_request', words, { internal, status });
  return new GatewayError('upstream_error', words, { internal, status: status >= 500 ? status : 502 });
}
