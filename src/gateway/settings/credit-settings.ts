/** How holds are measured, and what happens to a stream that has used its hold up. */
export type CreditSettings = {
  /** Output tokens that are held for a call whose client sets no bound; a stream that writes more gets as many again, as often as there is credit for it. */
  readonly outputTokensDefault: number;
  /**
   * Which calls without a bound are held for all that their model can write, because what they come to is known only when it is spent: whole replies, or streams of models that may
   * think unseen as well.
   */
  readonly coversUnbounded: 'none' | 'whole' | 'reasoning';
  /** Whether a stream that cannot get more is cut, or goes on to its end and is booked with what it cost. */
  readonly exhausted: 'cut' | 'finish';
};

export const defaultCredits: CreditSettings = { outputTokensDefault: 4096, coversUnbounded: 'whole', exhausted: 'cut' };
