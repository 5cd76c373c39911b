import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallJob, LocalAnswer, PlannedAttempt } from '../../attempts/call-job.ts';
import type { UndeliveredFailure } from '../../attempts/exchange/exchange-context.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { answerCount } from './translate/token-count.ts';
import { boundUsage, coverAttempt, createStreamBudget } from './chat-credit.ts';
import type { ChatServices } from './chat-services.ts';
import type { ReplyForm } from './reply-form.ts';
import { type PreparedCall, toWireRequest } from './incoming-call.ts';
import { mayShorten } from './plan/fit-request.ts';
import { type EstimatedCount, type ExchangePlan, planAttempt } from './plan/plan-attempt.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import { type JsonObject, isJsonObject } from '../../../platform/json/json-value.ts';
import { freeMemory } from '../../../platform/http/body-memory.ts';
import { parseJsonInSlices } from '../../../platform/json/parse-in-slices.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { largeBodyBytes } from '../../../platform/yield-queue.ts';

/** A request, and its body as it is sent if it passes through. */
type ChatRequest = { readonly request: WireRequest; readonly bytes: Buffer };

/**
 * The request that the attempts of a chat send: passed through or translated, and shortened if the client asked for
 * that.
 */
export class ChatJob<Piece = Buffer> implements CallJob<ExchangePlan<Piece>> {
  readonly isFree: boolean;
  readonly #services: ChatServices;
  readonly #prepared: PreparedCall;
  readonly #form: ReplyForm<Piece>;
  readonly #mayShorten: boolean;
  /** The request's body, while another attempt may need it. */
  #bytes: Buffer | undefined;
  /**
   * The parsed request. Every garbage collection would copy the tree of a large one, so it is dropped when it is sent.
   */
  #request: WireRequest | undefined;
  /**
   * Whether something reads the request after its reply has begun: a translation, which repeats members of the request
   * in its reply, or a turn, which stores it. Large members are parsed when they are read, so their bytes must stay.
   */
  #isReadLater = true;
  /** The refusal of the request as too long, after which less of it is sent. */
  #overflow: GatewayError | undefined;
  /** Targets that refused the reasoning of another account. Absent: none. */
  #withoutReasoning: Set<Target> | undefined;

  /** @param form the form that the sink of the reply accepts */
  constructor(services: ChatServices, prepared: PreparedCall, form: ReplyForm<Piece>, { request, bytes }: ChatRequest) {
    this.#services = services;
    this.#prepared = prepared;
    this.#form = form;
    this.#request = request;
    this.#bytes = bytes;
    this.#mayShorten = request.body.truncation === 'auto';
    this.isFree = prepared.call.operation === 'count-tokens';
  }

  plan(target: Target): ExchangePlan<Piece> | LocalAnswer | Promise<ExchangePlan<Piece> | LocalAnswer> {
    const bytes = this.#bytes ?? Buffer.from('{}');
    if (this.#request !== undefined) return this.#planFor(target, this.#request, bytes);
    return readAgain(bytes).then((body) => this.#planFor(target, toWireRequest(this.#prepared.call, body), bytes));
  }

  #planFor(
    target: Target,
    request: WireRequest,
    bytes: Buffer,
  ): ExchangePlan<Piece> | LocalAnswer | Promise<ExchangePlan<Piece> | LocalAnswer> {
    const withoutReasoning = this.#withoutReasoning?.has(target) === true;
    const planned = planAttempt({
      gateway: this.#services,
      prepared: this.#prepared,
      form: this.#form,
      attempt: { target, request, bytes, translate: false, overflow: this.#overflow, withoutReasoning },
    });
    return planned instanceof Promise ? planned.then((plan) => this.#orAnswer(plan)) : this.#orAnswer(planned);
  }

  #orAnswer(plan: ExchangePlan<Piece> | EstimatedCount): ExchangePlan<Piece> | LocalAnswer {
    if (plan.kind === 'exchange') {
      this.#isReadLater = plan.translation !== undefined || this.#prepared.turn !== undefined;
      return plan;
    }
    return { kind: 'local', answer: () => answerCount(this.#prepared.call, plan.inputTokens) };
  }

  digest(): string {
    return digestRequest(this.#bytes ?? Buffer.from('{}'));
  }

  sent(): void {
    this.#request = undefined;
  }

  forget(): void {
    if (this.#bytes !== undefined && !this.#isReadLater) freeMemory(this.#bytes);
    this.#bytes = undefined;
  }

  mend(failure: UndeliveredFailure, target: Target, mayRepeat: boolean): boolean {
    if (isForgotten(failure, this.#prepared.turn, target)) return true;
    if (refusesReasoning(failure) && this.#mayBeOfOthers() && this.#withoutReasoning?.has(target) !== true) {
      this.#withoutReasoning ??= new Set();
      this.#withoutReasoning.add(target);
      return true;
    }
    // A vendor that counts more tokens than estimated is called once more with a shorter request.
    if (!mayRepeat || !this.#mayShorten || this.#overflow !== undefined || !mayShorten(this.#prepared.call, failure.error)) return false;
    this.#overflow = failure.error;
    return true;
  }

  /** Whether another account may have made the reasoning. A model with one account has none. */
  #mayBeOfOthers(): boolean {
    const { settings, facts } = this.#prepared;
    return new Set(settings.routing.targetsOf(facts.requestedModel).map(({ upstream }) => upstream)).size > 1;
  }

  cover(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof coverAttempt> {
    return coverAttempt(this.#prepared, attempt);
  }

  watchBudget(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof createStreamBudget> {
    return createStreamBudget(this.#prepared, attempt);
  }

  bound(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof boundUsage> {
    return boundUsage(this.#prepared, attempt);
  }
}

/**
 * Whether an upstream no longer has the response that the request continues: its retention is shorter than ours, or its
 * account stores nothing. From then on the turn sends this target the whole conversation.
 */
function isForgotten({ upstreamStatus, upstreamWords }: UndeliveredFailure, turn: ResponseTurn | undefined, target: Target): boolean {
  if (turn === undefined || (upstreamStatus !== 400 && upstreamStatus !== 404)) return false;
  return /previous[ _]response.*not[ _]found/i.test(upstreamWords ?? '') && turn.forgetKeeper(target);
}

/**
 * Words with which vendors refuse the reasoning in a conversation: a signature of Claude that is not theirs, a turn of
 * Claude without its thinking, encrypted reasoning of OpenAI's models, a thought signature of Gemini.
 */
const reasoningWords =
  /signature\W+in\W+thinking|expected\W+thinking\W+or|thought.?signature.{0,40}(?:not valid|invalid|corrupt)|(?:invalid|corrupted).thought.?signature|encrypted.content/i;

/**
 * Whether an upstream refused the reasoning in a conversation. Another account made it, for example another cloud that
 * has the same model.
 */
function refusesReasoning({ error, upstreamStatus, upstreamWords = '' }: UndeliveredFailure): boolean {
  return upstreamStatus === 400 && reasoningWords.test(`${upstreamWords} ${error.message}`);
}

/** The body was within the limits when it was received, and inlined files may have made it larger. */
const unlimited = { depthMax: Infinity, tokensMax: Infinity };

/** Parses a body again; a large one in steps that yield to the event loop. */
async function readAgain(bytes: Buffer): Promise<JsonObject> {
  const body = bytes.length > largeBodyBytes ? await parseJsonInSlices(bytes, unlimited) : parseJson(bytes);
  return isJsonObject(body) ? body : {};
}
