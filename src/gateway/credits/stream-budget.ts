import type { UsageBounds } from '../../billing/metering/estimate-usage.ts';
import type { PlannedCall } from '../../billing/rating/rating.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../inference/count-text-characters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { Target } from '../routing/routing-table.ts';
import { boundAtTarget, type Purchase } from './bound-call.ts';
import type { CallCredit } from './call-credit.ts';
import type { CreditSettings } from './credit-settings.ts';

export type BudgetVerdict = 'go' | 'cut';

export type StreamBudgetOptions = {
  readonly credit: CallCredit;
  readonly settings: CreditSettings;
  readonly purchase: Purchase;
  readonly target: Target;
  /** What was held for. */
  readonly bounds: UsageBounds & Pick<PlannedCall, 'pricingParameters'>;
  /** Whether the client itself bounded the output, so that the upstream keeps to it. */
  readonly isBounded: boolean;
};

/** A text of a known tokenizer may have a token for each character, and estimates assume four. */
const charactersPerToken = 4;
/** What is asked for when as much as usual is not to be had. */
const smallShare = 8;

/**
 * Watches that a running stream costs no more than what is held for it. It is asked after every frame and looks at the reply only when so many bytes have passed that the output
 * could have reached what is held: an output token is at least a character, and a character at least a byte.
 */
export class StreamBudget {
  readonly #options: StreamBudgetOptions;
  /** Output tokens that are covered. */
  #coveredTokens: number;
  #passedBytes = 0;
  #dueBytes: number;

  constructor(options: StreamBudgetOptions) {
    this.#options = options;
    this.#coveredTokens = options.bounds.most.outputTokens ?? 0;
    this.#dueBytes = this.#bytesFor(this.#coveredTokens);
  }

  /** Whether the reply has to be looked at after so many bytes more. */
  isDue(bytes: number): boolean {
    this.#passedBytes += bytes;
    return this.#passedBytes > this.#dueBytes;
  }

  /** Looks at the reply so far. A promise where the store has to be asked for more. Never rejects. */
  review(report: ReplyReport): BudgetVerdict | Promise<BudgetVerdict> {
    const written = this.#writtenTokens(report);
    if (written < this.#coveredTokens) {
      this.#dueBytes = this.#passedBytes + this.#bytesFor(this.#coveredTokens - written);
      return 'go';
    }
    const { outputTokensDefault } = this.#options.settings;
    const more = Math.max(1, outputTokensDefault);
    return this.#extend(report, written, [more, Math.ceil(more / smallShare)]);
  }

  #bytesFor(tokens: number): number {
    return tokens * (this.#options.isBounded ? charactersPerToken : 1);
  }

  /** The most that may have been written. An upstream that was told a bound is believed to keep to it, until it certainly has not. */
  #writtenTokens({ usageReport, outputCharacters }: ReplyReport): number {
    const reported = usageReport?.usage.outputTokens ?? 0;
    return Math.max(reported, this.#options.isBounded ? estimateTokens(outputCharacters) : outputCharacters);
  }

  #extend(report: ReplyReport, written: number, [more, ...less]: readonly number[]): BudgetVerdict | Promise<BudgetVerdict> {
    if (more === undefined) return this.#exhaust();
    const tokens = written + more;
    const refused = this.#options.credit.cover(this.#costOf(report, tokens));
    const conclude = (refusal: unknown): BudgetVerdict | Promise<BudgetVerdict> => {
      if (refusal !== undefined) return this.#extend(report, written, less);
      this.#coveredTokens = tokens;
      this.#dueBytes = this.#passedBytes + this.#bytesFor(more);
      return 'go';
    };
    return refused instanceof Promise ? refused.then(conclude, () => this.#exhaust()) : conclude(refused);
  }

  /** Nothing more is to be had. */
  #exhaust(): BudgetVerdict {
    this.#dueBytes = Infinity;
    return this.#options.settings.exhausted === 'cut' ? 'cut' : 'go';
  }

  #costOf({ usageReport }: ReplyReport, outputTokens: number): bigint {
    const { purchase, target, bounds } = this.#options;
    const most: Usage = { ...bounds.most, inputTokens: countInput(usageReport?.usage) ?? bounds.most.inputTokens ?? 0, outputTokens };
    return boundAtTarget(purchase, target, { ...bounds, most }).maximumNanoUsd;
  }
}

/** All input that the upstream has told. */
function countInput(usage: Usage | undefined): number | undefined {
  if (usage?.inputTokens === undefined) return undefined;
  return usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWrite5mTokens ?? 0) + (usage.cacheWrite1hTokens ?? 0);
}
