import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { Usage } from '../../../inference/usage.ts';

/** Counts the usage of an attempt by more than the report of its upstream: by its request, or by measuring. */
export type OwnMeter = {
  /** The least usage of an attempt whose upstream has answered. The journal keeps it, in case the process dies. */
  readonly atHead: () => Usage;
  /** Resolves when `atHead` may say something better. Absent where it says all from the beginning. Never rejects. */
  readonly learnMore?: () => Promise<void>;
  /**
   * The usage of an attempt that did not fail. A promise if something has to be measured first; never rejects.
   * @param report what the reply says; absent if none of it was read
   */
  readonly count: (report: ReplyReport | undefined) => MeteredCall | Promise<MeteredCall>;
};
