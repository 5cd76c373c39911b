/** A promise of the reliability card, and how it is shown. */
export type CardRow = {
  /** M: metering and money. R: availability. S: security. */
  readonly id: string;
  readonly promise: string;
  readonly proofs: readonly Proof[];
  /** The part of the promise that these suites do not show. */
  readonly notShown?: string;
};

/** Tests that must pass, and what they print. */
export type Proof = {
  /** The suite, relative to the repository. */
  readonly file: string;
  /** Only its tests with such a title. Default: all. */
  readonly title?: RegExp;
  /** Lines that the suite prints, of which the first group is a figure for the page. */
  readonly figures?: RegExp;
  /** Numbers in those lines that must not exceed a bound. */
  readonly bounds?: readonly Bound[];
};

export type Bound = {
  /** The name of the number in the page. */
  readonly name: string;
  /** The first group is the number. */
  readonly of: RegExp;
  readonly most: number;
};
