import type { TranscriptSegment } from './transcript.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;

/** `00:00:03,319`: always with hours, of at least two digits. */
function writeTime(seconds: number, separator: ',' | '.'): string {
  const ms = Math.round(seconds * secondMs);
  const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const [hours, minutes] = [Math.floor(ms / hourMs), Math.floor((ms % hourMs) / minuteMs)];
  const rest = ms % minuteMs;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(Math.floor(rest / secondMs), 2)}${separator}${pad(rest % secondMs, 3)}`;
}

/** Text without an arrow or a blank line, which would be read as times and as the end of the cue. */
function writeCueText(text: string): string {
  return text
    .trim()
    .replaceAll('-->', '->')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\n(?:[^\S\n]*\n)+/g, '\n');
}

/** Writes SubRip: numbered cues, each with a blank line after it. Empty if there are no cues. */
export function writeSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${writeTime(start, ',')} --> ${writeTime(end, ',')}\n${writeCueText(text)}\n\n`)
    .join('');
}

/** Writes WebVTT as the vendor does: with hours, and without cue numbers. */
export function writeVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(({ start, end, text }) => `${writeTime(start, '.')} --> ${writeTime(end, '.')}\n${writeCueText(text)}\n\n`);
  return `WEBVTT\n\n${cues.join('')}`;
}

/**
 * Adds the hours to the times of a WebVTT file. Open-source servers omit them below one hour. Everything else stays
 * unchanged.
 */
export function completeVttTimes(vtt: string): string {
  return vtt.replaceAll(
    /^(\d{2}:)?(\d{2}:\d{2}\.\d{3})( +--> +)(\d{2}:)?(\d{2}:\d{2}\.\d{3})/gm,
    (_, startHours: string | undefined, start: string, arrow: string, endHours: string | undefined, end: string) =>
      `${startHours ?? '00:'}${start}${arrow}${endHours ?? '00:'}${end}`,
  );
}
