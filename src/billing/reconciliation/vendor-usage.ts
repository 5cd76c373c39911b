import type { AccountKind } from '../../inference/interfaces.ts';
import { meters, summableMeters } from '../../inference/meters.ts';

/**
 * The classes of usage that are compared. Token classes are disjoint, as in `Usage`: `input` is neither read from nor
 * written to a cache; a write without a lifetime counts as five minutes; `output` includes the reasoning. `requests`
 * are answers of the vendor.
 */
export const usageClasses = [...summableMeters.map((meter) => meters[meter].line), 'web_searches', 'requests'] as const;
export type UsageClass = (typeof usageClasses)[number];
export type UsageCounts = Readonly<Partial<Record<UsageClass, number>>>;

/** The usage of a model in one of the vendor's buckets, which begins at `startMs`. */
export type VendorUsageRow = { readonly model: string; readonly startMs: number; readonly counts: UsageCounts };

/** A vendor's own statement of its usage, read from an export. */
export type VendorUsage = {
  /** IANA time zone in which the vendor's days begin. */
  readonly timeZone: string;
  readonly rows: readonly VendorUsageRow[];
  /** The time span of the export, also without usage: `[startMs, endMs)`. */
  readonly startMs: number;
  readonly endMs: number;
  /**
   * The kinds of calls that such an export can contain; absent if it has all. Calls of other kinds are omitted from the
   * comparison, and named.
   */
  readonly kinds?: readonly AccountKind[];
  /** Names of data in the export that are not compared. */
  readonly unread: readonly string[];
};

/** An export that cannot be read. The message has the place and the reason. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

/** The day that contains a moment, such as `2026-11-22`, by the clock of a time zone. */
export function dayIn(timeZone: string, ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/**
 * The beginning of a day in a time zone, or of a day that follows it, in Unix milliseconds.
 * @throws ExportError if it is not a day
 */
export function startOfDay(timeZone: string, day: string, daysOn = 0): number {
  try {
    return Temporal.PlainDate.from(day).add({ days: daysOn }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    throw new ExportError(`"${day.slice(0, 32)}" is not a day such as 2026-11-22`);
  }
}
