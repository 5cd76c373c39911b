import type { AccountKind } from '../../inference/interfaces.ts';
import { meters, summableMeters } from '../../inference/meters.ts';

/**
 * What usage is compared by. Token classes are disjoint, as in `Usage`: `input` is neither read from nor written to a cache; a write without a lifetime is one of five minutes;
 * `output` has the reasoning in it. `requests` are answers of the vendor.
 */
export const usageClasses = [...summableMeters.map((meter) => meters[meter].line), 'web_searches', 'requests'] as const;
export type UsageClass = (typeof usageClasses)[number];
export type UsageCounts = Readonly<Partial<Record<UsageClass, number>>>;

/** What a vendor says a model used from one moment on, in one of its buckets. */
export type VendorUsageRow = { readonly model: string; readonly startMs: number; readonly counts: UsageCounts };

/** A vendor's own account of its usage, read from an export. */
export type VendorUsage = {
  /** IANA time zone in which the vendor's days begin. */
  readonly timeZone: string;
  readonly rows: readonly VendorUsageRow[];
  /** The time that the export is about, also where nothing was used: `[startMs, endMs)`. */
  readonly startMs: number;
  readonly endMs: number;
  /** The only kinds of calls that an export of this form can contain; absent where it has all. Calls of other kinds are left out of the comparison, and named. */
  readonly kinds?: readonly AccountKind[];
  /** What the export holds and the comparison leaves out, by name: it is not guessed at. */
  readonly unread: readonly string[];
};

/** An export that cannot be read. The message says where and why. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

/** The day that a moment lies in, such as `2026-11-22`, by the clock of a time zone. */
export function dayIn(timeZone: string, ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** When a day of a time zone begins, in Unix milliseconds; days may be counted on from it. @throws ExportError where it is none */
export function startOfDay(timeZone: string, day: string, daysOn = 0): number {
  try {
    return Temporal.PlainDate.from(day).add({ days: daysOn }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    throw new ExportError(`"${day.slice(0, 32)}" is no day such as 2026-11-22`);
  }
}
