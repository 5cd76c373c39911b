import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { Frame } from '../../../platform/frames.ts';
import type { BudgetVerdict, StreamBudget } from './stream-budget.ts';

/** What has come from an upstream while its stream was not known to be covered: frames, and what ended it. */
export type HeldBack = { readonly frames: readonly Frame[]; readonly ending: (() => void) | undefined };

/**
 * Asks whether a stream may go on, and keeps back what comes of it until the answer is there, which is at once unless the store has to be asked. What was read stays read; nothing of
 * what is kept back has been.
 */
export class StreamReview {
  readonly #budget: StreamBudget;
  readonly #decided: (verdict: BudgetVerdict, heldBack: HeldBack) => void;
  #frames: Frame[] | undefined;
  #ending: (() => void) | undefined;

  /** @param decided hears of an answer for which the stream had to wait */
  constructor(budget: StreamBudget, decided: (verdict: BudgetVerdict, heldBack: HeldBack) => void) {
    this.#budget = budget;
    this.#decided = decided;
  }

  get isWaiting(): boolean {
    return this.#frames !== undefined;
  }

  /** Whether the reply has to be looked at after a frame. */
  isDue(frame: Frame): boolean {
    return this.#budget.isDue(frame);
  }

  /** @param rest the frames that have come after the one that was read last */
  look(report: ReplyReport, rest: readonly Frame[]): BudgetVerdict | 'wait' {
    const verdict = this.#budget.review(report);
    if (!(verdict instanceof Promise)) return verdict;
    this.#frames = [...rest];
    void verdict.then((known) => this.#conclude(known));
    return 'wait';
  }

  hold(frames: readonly Frame[]): void {
    this.#frames?.push(...frames);
  }

  /** What is to be done when all that is kept back has passed. The first counts. */
  endWith(step: () => void): void {
    this.#ending ??= step;
  }

  #conclude(verdict: BudgetVerdict): void {
    const heldBack = { frames: this.#frames ?? [], ending: this.#ending };
    this.#frames = undefined;
    this.#ending = undefined;
    this.#decided(verdict, heldBack);
  }
}
