type Parts = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>>;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The parts of an instant on the clocks of a zone. */
function partsIn(instant: string | number, zone: string): Parts {
  let format = formats.get(zone);
  if (format === undefined) {
    const two = '2-digit';
    const options = {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    } as const;
    format = new Intl.DateTimeFormat('en-GB', options);
    formats.set(zone, format);
  }
  return Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value])) as Parts;
}

/** `2026-11-27` */
export function showDay(instant: string | number, zone: string): string {
  const { year, month, day } = partsIn(instant, zone);
  return `${year}-${month}-${day}`;
}

/** `14:02:58` */
export function showClock(instant: string | number, zone: string): string {
  const { hour, minute, second } = partsIn(instant, zone);
  return `${hour}:${minute}:${second}`;
}

/** `2026-11-27 14:02:58` */
export function showTime(instant: string | number, zone: string): string {
  return `${showDay(instant, zone)} ${showClock(instant, zone)}`;
}

/** Of a bar of a time axis: its words, `14:05`, and the minute of its day. */
export function clockTick(instant: string | number, zone: string): { readonly tick: string; readonly minute: number } {
  const { hour, minute } = partsIn(instant, zone);
  return { tick: `${hour}:${minute}`, minute: Number(hour) * 60 + Number(minute) };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `27 Nov` */
export function showShortDay(instant: string | number, zone: string): string {
  const { month, day } = partsIn(instant, zone);
  return `${Number(day)}\u00a0${months[Number(month) - 1]}`;
}

const monthsFromMs = 62 * 86_400_000;

/**
 * The words of bars of days, weeks or months: `27 Nov`. Over more than two months they are those of months, `Nov`, with
 * the year in January and where the axis begins.
 */
export function dayTicks(
  starts: readonly (string | number)[],
  zone: string,
): readonly { readonly tick: string; readonly isMonth?: boolean }[] {
  const at = (index: number): number => new Date(starts[index] ?? 0).getTime();
  if (at(starts.length - 1) - at(0) <= monthsFromMs) return starts.map((start) => ({ tick: showShortDay(start, zone) }));
  let before = '';
  return starts.map((start, index) => {
    const { year, month, day } = partsIn(start, zone);
    const isMonth = index === 0 ? Number(day) <= 7 : month !== before;
    before = month;
    const name = months[Number(month) - 1] ?? '';
    return { tick: month === '01' || index === 0 ? `${name}\u00a0${year}` : name, isMonth };
  });
}

/** `27 Nov 14:02:58`, for a row of a list whose page says the year. */
export function showRowTime(instant: string | number, zone: string): string {
  return `${showShortDay(instant, zone)} ${showClock(instant, zone)}`;
}

/** `2026-11-27 14:02` */
export function showMinute(instant: string | number, zone: string): string {
  return showTime(instant, zone).slice(0, 16);
}

/** The distance of a zone from UTC at an instant: `UTC+05:45`. */
export function showOffset(instant: string | number, zone: string): string {
  const part = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' })
    .formatToParts(new Date(instant))
    .find(({ type }) => type === 'timeZoneName');
  const text = (part?.value ?? '').replace('GMT', 'UTC');
  return text === '' ? 'UTC' : text;
}

const relative = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1000 },
] as const;

/** `3 minutes ago`, `in 6 days`. An addition to an instant, never instead of one. */
export function showAgo(instant: string | number, nowMs: number): string {
  const distance = new Date(instant).getTime() - nowMs;
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const { unit, ms } of relative) if (Math.abs(distance) >= ms) return words.format(Math.round(distance / ms), unit);
  return 'now';
}

/**
 * The instant at which a wall clock of a zone shows a time, in Unix milliseconds. A time that a clock change skips is
 * moved forward; of a time that occurs twice the first is meant.
 * @param wall `2026-11-27T14:02`
 */
export function instantIn(wall: string, zone: string): number {
  const asUtc = Date.parse(`${wall}${wall.length === 10 ? 'T00:00' : ''}Z`);
  const offsetAt = (ms: number): number => Date.parse(`${showTime(ms, zone).replace(' ', 'T')}Z`) - Math.floor(ms / 1000) * 1000;
  const before = asUtc - offsetAt(asUtc - 86_400_000);
  const after = asUtc - offsetAt(asUtc + 86_400_000);
  const wallAt = (ms: number): boolean => ms + offsetAt(ms) === asUtc;
  if (wallAt(before) && wallAt(after)) return Math.min(before, after);
  if (wallAt(before)) return before;
  return wallAt(after) ? after : Math.max(before, after);
}
