import type { JsonObject } from '../../platform/json/json-value.ts';

/** A stretch of a transcript, in seconds from the beginning of the sound. */
export type TranscriptSegment = {
  readonly start: number;
  readonly end: number;
  /** As it came: Whisper puts a space before it. */
  readonly text: string;
  /** What else its server said of it. */
  readonly members: JsonObject;
};

export type TranscriptWord = { readonly word: string; readonly start: number; readonly end: number };

/** What was said in a recording, whatever server wrote it down. */
export type Transcript = {
  readonly text: string;
  /** Lower-case English name. */
  readonly language?: string;
  readonly durationSeconds?: number;
  /** Absent where the server made none. */
  readonly segments?: readonly TranscriptSegment[];
  readonly words?: readonly TranscriptWord[];
  /** The server's own members beside these. */
  readonly members: JsonObject;
};
