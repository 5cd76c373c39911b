import type { TranscriptSegment } from './transcript.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;

/** `00:00:03,319`: hours always there, with two digits at least. */
function writeTime(seconds: number, separator: ',' | '.'): string {
  const ms = Math.round(seconds * secondMs);
  const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const [hours, minutes] = [Math.floor(ms / hourMs), Math.floor((ms % hourMs) / minuteMs)];
  const rest = ms % minuteMs;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(Math.floor(rest / secondMs), 2)}${separator}${pad(rest % secondMs, 3)}`;
}

/** Text as it may stand in a cue: an arrow would be taken for times, and a blank line for the cue's end. */
function writeCueText(text: string): string {
  return text
    .trim()
    .replaceAll('-->', '->')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\n(?:[^\S\n]*\n)+/g, '\n');
}

/** Writes SubRip: numbered cues, each with a blank line after it. Empty for no cues. */
export function writeSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${writeTime(start, ',')} --> ${writeTime(end, ',')}\n${writeCueText(text)}\n\n`)
    .join('');
}

/** Writes WebVTT as the vendor's service does: with hours, and without numbers. */
export function writeVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(({ start, end, text }) => `${writeTime(start, '.')} --> ${writeTime(end, '.')}\n${writeCueText(text)}\n\n`);
  return `WEBVTT\n\n${cues.join('')}`;
}

/** Gives the times of a WebVTT file their hours, which open-source servers leave out below one. Everything else stays as it is. */
export function completeVttTimes(vtt: string): string {
  return vtt.replaceAll(
    /^(\d{2}:)?(\d{2}:\d{2}\.\d{3})( +--> +)(\d{2}:)?(\d{2}:\d{2}\.\d{3})/gm,
    (_, startHours: string | undefined, start: string, arrow: string, endHours: string | undefined, end: string) =>
      `${startHours ?? '00:'}${start}${arrow}${endHours ?? '00:'}${end}`,
  );
}
