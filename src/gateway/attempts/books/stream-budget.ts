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
  /** The bounds that the hold was computed from. */
  readonly bounds: UsageBounds & Pick<PlannedCall, 'pricingParameters'>;
  /** Whether the client bounded the output, so that the upstream enforces the bound. */
  readonly isBounded: boolean;
};

/** A stream whose upstream received a bound is reviewed when, by the usual estimate, it may have exceeded the bound. */
const charactersPerToken = 4;
/** A code unit is at most this many bytes longer than one byte. */
const moreBytesMax = 2;
/** The part of the usual amount that is requested if the whole is refused. */
const smallShare = 8;

/**
 * Checks that a running stream costs no more than its hold. It runs after every frame, and reads the reply only after
 * as many bytes as the output needs to exceed the hold. A token has at least one byte, because vocabularies fall back
 * to bytes, and a rare character may be several tokens. The upstream's own count is used for the output that it covers.
 */
export class StreamBudget {
  readonly #options: StreamBudgetOptions;
  /** Output tokens that the hold covers. */
  #coveredTokens: number;
  #passedBytes = 0;
  #dueBytes: number;
  /** The upstream's last count, and the length of the text that it covers. */
  #counted = { tokens: 0, characters: 0 };
  /** Bytes beyond code units since that count. */
  #moreBytes = 0;

  constructor(options: StreamBudgetOptions) {
    this.#options = options;
    this.#coveredTokens = options.bounds.most.outputTokens ?? 0;
    this.#dueBytes = this.#bytesFor(this.#coveredTokens);
  }

  /** Whether the reply must be reviewed after this frame. */
  isDue({ bytes, data }: Pick<Frame, 'bytes' | 'data'>): boolean {
    this.#passedBytes += bytes.length;
    if (!this.#options.isBounded) this.#moreBytes += countMoreBytes(data);
    return this.#passedBytes > this.#dueBytes;
  }

  /** Reviews the reply so far. Returns a promise if the store must extend the hold. Never rejects. */
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

  /**
   * The most tokens that the reply can have. An upstream that received a bound is trusted to respect it, until its text
   * is certainly longer.
   */
  #writtenTokens({ usageReport, outputCharacters }: ReplyReport): number {
    const reported = usageReport?.usage.outputTokens ?? 0;
    if (this.#options.isBounded) {
      // A count beyond the bound that was sent is disputed at the end; nothing is held for it.
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

  /** The hold cannot be extended. */
  #exhaust(): BudgetVerdict {
    this.#dueBytes = Infinity;
    return this.#options.settings.exhausted === 'cut' ? 'cut' : 'go';
  }

  #costOf({ usageReport }: ReplyReport, outputTokens: number): bigint {
    const { purchase, target, bounds } = this.#options;
    const { inputTokens = 0, toolCalls = 0 } = bounds.most;
    const reported = reportedInput(usageReport?.usage);
    // A count from before the vendor's own tools have run is not the whole input.
    const most: Usage = { ...bounds.most, inputTokens: reported === undefined || toolCalls > 0 ? inputTokens : reported, outputTokens };
    return boundAtTarget(purchase, target, { ...bounds, most });
  }
}

const escape = '\\u';

/** The most bytes that the text of a frame has beyond its code units. They may be literal or escaped. */
function countMoreBytes(data: string): number {
  let more = Buffer.byteLength(data) - data.length;
  for (let at = data.indexOf(escape); at !== -1; at = data.indexOf(escape, at + escape.length))
    more += isSurrogate(data, at + escape.length) ? 1 : moreBytesMax;
  return more;
}

/** Whether four digits are a surrogate, D800 to DFFF: one of two units that make a character of four bytes. */
function isSurrogate(data: string, at: number): boolean {
  return (data[at] === 'd' || data[at] === 'D') && (data[at + 1] ?? '') >= '8';
}

/** The whole input that the upstream has reported. */
function reportedInput(usage: Usage | undefined): number | undefined {
  return usage?.inputTokens === undefined ? undefined : countInput(usage);
}
