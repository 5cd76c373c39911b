import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallJob, OwnAnswer, PlannedAttempt } from '../../attempts/call-job.ts';
import type { UndeliveredFailure } from '../../attempts/exchange/exchange-context.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { answerCount } from './answer-count.ts';
import { coverAttempt, createStreamBudget } from './chat-credit.ts';
import type { ChatServices } from './chat-services.ts';
import type { ReplyForm } from './forms/reply-form.ts';
import type { PreparedCall } from './prepared-call.ts';
import { mayShorten } from './plan/fit-request.ts';
import { isForgotten } from './plan/is-forgotten.ts';
import { planAttempt } from './plan/plan-attempt.ts';
import type { EstimatedCount, ExchangePlan } from './plan/plan-exchange.ts';
import { readAgain } from './plan/read-again.ts';
import { toWireRequest } from './to-wire-request.ts';
import { boundUsage } from './usage-bound.ts';

/** A request, and its body as it is sent if it passes through. */
type ChatRequest = { readonly request: WireRequest; readonly bytes: Buffer };

/**
 * The request that the attempts of a chat send: passed through or translated, and shortened if the client asked for
 * that.
 */
export class ChatJob<Piece = Buffer> implements CallJob<ExchangePlan<Piece>> {
  readonly isFree: boolean;
  readonly #services: ChatServices;
  readonly #known: PreparedCall;
  readonly #form: ReplyForm<Piece>;
  readonly #mayShorten: boolean;
  /** The request's body, while another attempt may need it. */
  #bytes: Buffer | undefined;
  /**
   * The parsed request. Every garbage collection would copy the tree of a large one, so it is dropped when it is sent.
   */
  #request: WireRequest | undefined;
  /** The refusal of the request as too long, after which less of it is sent. */
  #overflow: GatewayError | undefined;

  /** @param form the form that the sink of the reply accepts */
  constructor(services: ChatServices, known: PreparedCall, form: ReplyForm<Piece>, { request, bytes }: ChatRequest) {
    this.#services = services;
    this.#known = known;
    this.#form = form;
    this.#request = request;
    this.#bytes = bytes;
    this.#mayShorten = request.body.truncation === 'auto';
    this.isFree = known.call.operation === 'count-tokens';
  }

  plan(target: Target): ExchangePlan<Piece> | OwnAnswer | Promise<ExchangePlan<Piece> | OwnAnswer> {
    const bytes = this.#bytes ?? Buffer.from('{}');
    if (this.#request !== undefined) return this.#planFor(target, this.#request, bytes);
    return readAgain(bytes).then((body) => this.#planFor(target, toWireRequest(this.#known.call, body), bytes));
  }

  #planFor(
    target: Target,
    request: WireRequest,
    bytes: Buffer,
  ): ExchangePlan<Piece> | OwnAnswer | Promise<ExchangePlan<Piece> | OwnAnswer> {
    const planned = planAttempt(this.#services, this.#known, this.#form, { target, request, bytes, overflow: this.#overflow });
    return planned instanceof Promise ? planned.then((plan) => this.#orAnswer(plan)) : this.#orAnswer(planned);
  }

  #orAnswer(plan: ExchangePlan<Piece> | EstimatedCount): ExchangePlan<Piece> | OwnAnswer {
    if (plan.kind === 'exchange') return plan;
    return { kind: 'own', answer: () => answerCount(this.#known.call, plan.inputTokens) };
  }

  digest(): string {
    return digestRequest(this.#bytes ?? Buffer.from('{}'));
  }

  sent(): void {
    this.#request = undefined;
  }

  forget(): void {
    this.#bytes = undefined;
  }

  mend(failure: UndeliveredFailure, target: Target, mayRepeat: boolean): boolean {
    if (isForgotten(failure, this.#known.turn, target)) return true;
    // A vendor that counts more tokens than estimated is called once more with a shorter request.
    if (!mayRepeat || !this.#mayShorten || this.#overflow !== undefined || !mayShorten(this.#known.call, failure.error)) return false;
    this.#overflow = failure.error;
    return true;
  }

  cover(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof coverAttempt> {
    return coverAttempt(this.#known, attempt);
  }

  watchBudget(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof createStreamBudget> {
    return createStreamBudget(this.#known, attempt);
  }

  bound(attempt: PlannedAttempt<ExchangePlan<Piece>>): ReturnType<typeof boundUsage> {
    return boundUsage(this.#known, attempt);
  }
}
