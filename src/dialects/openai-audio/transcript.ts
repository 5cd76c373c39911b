import type { JsonObject } from '../../platform/json/json-value.ts';

/** A segment of a transcript, in seconds from the beginning of the recording. */
export type TranscriptSegment = {
  readonly start: number;
  readonly end: number;
  /** As received: Whisper puts a space before it. */
  readonly text: string;
  /** Other members of the segment from its server. */
  readonly members: JsonObject;
};

export type TranscriptWord = { readonly word: string; readonly start: number; readonly end: number };

/** The transcript of a recording, in one form for all servers. */
export type Transcript = {
  readonly text: string;
  /** The English name in lower case. */
  readonly language?: string;
  readonly durationSeconds?: number;
  /** Absent if the server returned none. */
  readonly segments?: readonly TranscriptSegment[];
  readonly words?: readonly TranscriptWord[];
  /** Other members of the server's answer. */
  readonly members: JsonObject;
};
