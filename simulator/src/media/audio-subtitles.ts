import type { TimedSegment } from './audio-timing.ts';

/** SubRip: numbered cues with commas before the milliseconds, a blank line after each. */
export function writeSrt(segments: readonly TimedSegment[]): string {
  return segments.map((cue, index) => `${index + 1}\n${timesOf(cue, ',')}\n${clean(cue.text)}\n\n`).join('');
}

/** WebVTT: cues without numbers, dots before the milliseconds, hours always. */
export function writeVtt(segments: readonly TimedSegment[]): string {
  return `WEBVTT\n\n${segments.map((cue) => `${timesOf(cue, '.')}\n${clean(cue.text)}\n\n`).join('')}`;
}

function timesOf({ startMs, endMs }: TimedSegment, point: string): string {
  return `${timeOf(startMs, point)} --> ${timeOf(endMs, point)}`;
}

function timeOf(ms: number, point: string): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds)}${point}${pad(ms % 1000, 3)}`;
}

/** An arrow inside a text would begin a cue. */
function clean(text: string): string {
  return text.trim().replaceAll('-->', '->');
}
