import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { Usage, UsageReport } from '../../../../inference/usage.ts';
import { sumUsage } from './loop-books.ts';

type UsageEvent = Extract<InferenceEvent, { type: 'usage' }>;

/** What the rounds of a call have used so far, as its client is told. The books are kept elsewhere, and have the last word. */
export class LoopUsage {
  readonly #rounds: UsageReport[] = [];
  #current: UsageReport | undefined;

  /** A round begins: what the one before used stands. */
  beginRound(): void {
    if (this.#current !== undefined) this.#rounds.push(this.#current);
    this.#current = undefined;
  }

  /** What is known when a round has reported: all rounds together. */
  read(report: UsageReport): UsageEvent {
    this.#current = report;
    return this.#tell(sumUsage(this.#reports().map(({ usage }) => usage)));
  }

  /** The end of the call. @param usage what is charged */
  end(usage: Usage, serviceTier: string | undefined): UsageEvent {
    return this.#tell(usage, serviceTier);
  }

  #reports(): readonly UsageReport[] {
    return this.#current === undefined ? this.#rounds : [...this.#rounds, this.#current];
  }

  #tell(usage: Usage, serviceTier?: string): UsageEvent {
    const reports = this.#reports();
    const toolPromptTokens = reports.reduce((sum, report) => sum + (report.toolPromptTokens ?? 0), 0);
    const isSplit = reports.length > 0 && reports.every(({ splitsInput }) => splitsInput === true);
    return {
      type: 'usage',
      usageReport: {
        usage,
        raw: undefined,
        trustworthy: true,
        ...(toolPromptTokens === 0 ? {} : { toolPromptTokens }),
        ...(isSplit ? { splitsInput: true } : {}),
        ...(serviceTier === undefined ? {} : { serviceTier }),
      },
    };
  }
}
