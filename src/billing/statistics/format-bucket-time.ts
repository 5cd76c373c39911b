/** A Unix time in seconds as `YYYY-MM-DD HH:MM:SS` by the clock of an IANA time zone. */
export function formatBucketTime(seconds: number, timeZone: string): string {
  const local = zonedTime(seconds, timeZone);
  const date = `${String(local.year).padStart(4, '0')}-${twoDigits(local.month)}-${twoDigits(local.day)}`;
  return `${date} ${twoDigits(local.hour)}:${twoDigits(local.minute)}:${twoDigits(local.second)}`;
}

/** A Unix time in seconds in a time zone. Throws RangeError for an unknown zone. */
export function zonedTime(seconds: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(timeZone);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
