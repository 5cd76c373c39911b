import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { PlannedCall } from '../../../billing/rating/rating.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { countInput } from '../../../inference/meters.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Frame } from '../../../platform/frames.ts';
import type { Target } from '../routing/target.ts';
import { boundAtTarget, type Purchase } from './bound-call.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { CreditSettings } from '../../settings/call-settings.ts';

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

/** An upstream that was told a bound is looked at when, by the usual estimate, it may have passed that. */
const charactersPerToken = 4;
/** A code unit is at most so many bytes more than one. */
const moreBytesMax = 2;
/** What is asked for when as much as usual is not to be had. */
const smallShare = 8;

/**
 * Watches that a running stream costs no more than what is held for it. It is asked after every frame and looks at the reply only when so many bytes have passed that the output
 * could have reached what is held: an output token is at least a byte, where vocabularies fall back to bytes. A character may be several tokens, where it is a rare one. As far as the upstream counts what it has
 * written, its count is taken.
 */
export class StreamBudget {
  readonly #options: StreamBudgetOptions;
  /** Output tokens that are covered. */
  #coveredTokens: number;
  #passedBytes = 0;
  #dueBytes: number;
  /** What the upstream has counted, and how much text that was. */
  #counted = { tokens: 0, characters: 0 };
  /** How many bytes more than code units have passed since. */
  #moreBytes = 0;

  constructor(options: StreamBudgetOptions) {
    this.#options = options;
    this.#coveredTokens = options.bounds.most.outputTokens ?? 0;
    this.#dueBytes = this.#bytesFor(this.#coveredTokens);
  }

  /** Whether the reply has to be looked at after a frame more. */
  isDue({ bytes, data }: Pick<Frame, 'bytes' | 'data'>): boolean {
    this.#passedBytes += bytes.length;
    if (!this.#options.isBounded) this.#moreBytes += countMoreBytes(data);
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
    if (this.#options.isBounded) {
      // A count beyond the bound that the upstream was told is disputed at the end. Nothing is set aside for it.
      const { outputTokens: bound = 0 } = this.#options.bounds.most;
      return Math.max(reported > bound ? 0 : reported, estimateTokens(outputCharacters));
    }
    if (reported > 0 && usageReport?.outputGoesOn === undefined) {
      this.#counted = { tokens: reported, characters: outputCharacters };
      this.#moreBytes = 0;
    }
    const { tokens, characters } = this.#counted;
    const since = outputCharacters - characters;
    return Math.max(reported, tokens + since + Math.min(this.#moreBytes, since * moreBytesMax));
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
    const { inputTokens = 0, toolCalls = 0 } = bounds.most;
    const told = toldInput(usageReport?.usage);
    // What is told before a vendor's own tools have run is not all that is read.
    const most: Usage = { ...bounds.most, inputTokens: told === undefined || toolCalls > 0 ? inputTokens : told, outputTokens };
    return boundAtTarget(purchase, target, { ...bounds, most });
  }
}

const escape = '\\u';

/** How many bytes the text in a frame has beyond its code units, at most: they may stand there as they are or as escapes. */
function countMoreBytes(data: string): number {
  let more = Buffer.byteLength(data) - data.length;
  for (let at = data.indexOf(escape); at !== -1; at = data.indexOf(escape, at + escape.length))
    more += isSurrogate(data, at + escape.length) ? 1 : moreBytesMax;
  return more;
}

/** Whether four digits are of one of the two units that make one character of four bytes: D800 to DFFF. */
function isSurrogate(data: string, at: number): boolean {
  return (data[at] === 'd' || data[at] === 'D') && (data[at + 1] ?? '') >= '8';
}

/** All input that the upstream has told. */
function toldInput(usage: Usage | undefined): number | undefined {
  return usage?.inputTokens === undefined ? undefined : countInput(usage);
}
