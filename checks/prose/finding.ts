/** One thing to rewrite, at a place of a file. Lines and columns count from 1. */
export type Finding = {
  readonly rule: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Warnings are shown on demand and do not fail the check. */
  readonly isWarning: boolean;
};
