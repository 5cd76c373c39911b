import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest, TokenLogprobsRequest } from '../../../inference/inference-request.ts';
import { findLogprobsObstacle, fitLogprobs } from '../../../inference/token-logprobs.ts';
import { numberOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeTokenLogprobs } from '../../openai-logprobs.ts';

/** The `include` value with which a client requests log probabilities. */
export const logprobsInclude = 'message.output_text.logprobs';

/** The request for log probabilities. Without the include, `top_logprobs` has no effect. */
export function decodeLogprobsRequest({ include, top_logprobs: top }: JsonObject): TokenLogprobsRequest | undefined {
  if (!textsOf(include).includes(logprobsInclude)) return undefined;
  const alternatives = numberOf(top);
  return { ...(alternatives === undefined || alternatives === 0 ? {} : { alternatives }), fields: ['include', 'top_logprobs'] };
}

type EncodedLogprobs = { readonly fields: JsonObject; readonly include: readonly string[] };

/**
 * Requests log probabilities.
 * @param isRewritten whether the client receives another text than the upstream writes
 */
export function encodeLogprobs(request: InferenceRequest, { traits, notes }: RequestFit, isRewritten: boolean): EncodedLogprobs {
  const requested = fitLogprobs(request, notes, findLogprobsObstacle(traits, isRewritten));
  if (requested === undefined) return { fields: {}, include: [] };
  return { fields: requested.alternatives === undefined ? {} : { top_logprobs: requested.alternatives }, include: [logprobsInclude] };
}

/** Log probabilities that wait for their text. A client that did not request them receives none. */
export class PendingLogprobs {
  readonly #isRequested: boolean;
  #waiting: JsonObject[] = [];
  #sent: JsonObject[] = [];

  constructor(shown: ReadonlySet<string>) {
    this.#isRequested = shown.has(logprobsInclude);
  }

  read(tokens: readonly TokenLogprob[]): void {
    if (this.#isRequested) for (const token of encodeTokenLogprobs(tokens)) this.#waiting.push(token);
  }

  /** Those of the text that is written now, as JSON text. */
  take(): string {
    if (this.#waiting.length === 0) return '[]';
    const tokens = this.#waiting;
    this.#waiting = [];
    for (const token of tokens) this.#sent.push(token);
    return JSON.stringify(tokens);
  }

  /** All of a text that has ended. */
  end(): readonly JsonObject[] {
    this.take();
    const tokens = this.#sent;
    this.#sent = [];
    return tokens;
  }
}
