import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import { objectOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { toSnakeCase } from '../canonicalize-request.ts';

type LikelyToken = Pick<TokenLogprob, 'token' | 'logprob'>;

const encodeToken = ({ token, logprob }: LikelyToken): JsonObject => ({ token, logProbability: logprob });

function asksForLogprobs(request: JsonObject): boolean {
  const config = objectOf(request.generationConfig) ?? objectOf(request[toSnakeCase('generationConfig')]);
  return (config?.responseLogprobs ?? config?.[toSnakeCase('responseLogprobs')]) === true;
}

/**
 * Writes the probabilities of a reply's tokens for a client that requested them: in each chunk its own, and in the last
 * the mean of all.
 */
export class LogprobsWriter {
  readonly #isAsked: boolean;
  #pending: TokenLogprob[] = [];
  #sum = 0;
  #count = 0;

  constructor(request: JsonObject) {
    this.#isAsked = asksForLogprobs(request);
  }

  read(tokens: readonly TokenLogprob[]): void {
    if (!this.#isAsked) return;
    for (const token of tokens) {
      this.#pending.push(token);
      this.#sum += token.logprob;
      this.#count += 1;
    }
  }

  /** Returns members of a candidate for the tokens that no chunk contained yet. */
  take(): JsonObject | undefined {
    if (this.#pending.length === 0) return undefined;
    const tokens = this.#pending;
    this.#pending = [];
    const hasAlternatives = tokens.some(({ alternatives }) => alternatives.length > 0);
    const topCandidates = tokens.map(({ alternatives }) => ({ candidates: alternatives.map(encodeToken) }));
    return { logprobsResult: { ...(hasAlternatives ? { topCandidates } : {}), chosenCandidates: tokens.map(encodeToken) } };
  }

  /** Returns the additional members of the last candidate. */
  end(): JsonObject {
    return { ...this.take(), ...(this.#count === 0 ? {} : { avgLogprobs: this.#sum / this.#count }) };
  }
}
