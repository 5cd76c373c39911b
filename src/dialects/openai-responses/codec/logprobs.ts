import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest, TokenLogprobsRequest } from '../../../inference/inference-request.ts';
import { findLogprobsObstacle, fitLogprobs } from '../../../inference/token-logprobs.ts';
import { numberOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeLikelyTokens } from '../../openai-logprobs.ts';

/** What a client writes into `include` to be told. */
export const logprobsInclude = 'message.output_text.logprobs';

/** Probabilities of tokens that a client asks for. Without the include `top_logprobs` asks for nothing. */
export function decodeLogprobsRequest({ include, top_logprobs: top }: JsonObject): TokenLogprobsRequest | undefined {
  if (!textsOf(include).includes(logprobsInclude)) return undefined;
  const alternatives = numberOf(top);
  return { ...(alternatives === undefined || alternatives === 0 ? {} : { alternatives }), fields: ['include', 'top_logprobs'] };
}

type EncodedLogprobs = { readonly fields: JsonObject; readonly include: readonly string[] };

/**
 * Asks for probabilities of tokens.
 * @param isRewritten whether the client gets another text than the one that the upstream writes
 */
export function encodeLogprobs(request: InferenceRequest, { traits, notes }: RequestFit, isRewritten: boolean): EncodedLogprobs {
  const asked = fitLogprobs(request, notes, findLogprobsObstacle(traits, isRewritten));
  if (asked === undefined) return { fields: {}, include: [] };
  return { fields: asked.alternatives === undefined ? {} : { top_logprobs: asked.alternatives }, include: [logprobsInclude] };
}

/** Tokens that wait for the text that they are of. A client that did not ask for them gets none. */
export class LikelyTokens {
  readonly #isAsked: boolean;
  #waiting: JsonObject[] = [];
  #told: JsonObject[] = [];

  constructor(shown: ReadonlySet<string>) {
    this.#isAsked = shown.has(logprobsInclude);
  }

  read(tokens: readonly TokenLogprob[]): void {
    if (this.#isAsked) for (const token of encodeLikelyTokens(tokens)) this.#waiting.push(token);
  }

  /** Those of the text that is written now, as JSON text. */
  take(): string {
    if (this.#waiting.length === 0) return '[]';
    const taken = this.#waiting;
    this.#waiting = [];
    for (const token of taken) this.#told.push(token);
    return JSON.stringify(taken);
  }

  /** All of a text that has ended. */
  end(): readonly JsonObject[] {
    this.take();
    const told = this.#told;
    this.#told = [];
    return told;
  }
}
