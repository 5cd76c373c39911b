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

/** How likely the tokens of a reply were, for a client that asked: in each chunk those of its own, and in the last the mean of all. */
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

  /** Members of a candidate for the tokens that none has told yet. */
  take(): JsonObject | undefined {
    if (this.#pending.length === 0) return undefined;
    const tokens = this.#pending;
    this.#pending = [];
    const hasAlternatives = tokens.some(({ alternatives }) => alternatives.length > 0);
    const topCandidates = tokens.map(({ alternatives }) => ({ candidates: alternatives.map(encodeToken) }));
    return { logprobsResult: { ...(hasAlternatives ? { topCandidates } : {}), chosenCandidates: tokens.map(encodeToken) } };
  }

  /** What the last candidate says besides. */
  end(): JsonObject {
    return { ...this.take(), ...(this.#count === 0 ? {} : { avgLogprobs: this.#sum / this.#count }) };
  }
}
