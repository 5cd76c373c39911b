import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { CallLabel } from '../../telemetry/call-report.ts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How requests to a path are answered that are refused before a route has begun to follow them. */
export type Wording = {
  readonly voice: ErrorVoice;
  /** What they are known by in logs and metrics. */
  readonly label: CallLabel;
  /** The framing of the stream that is asked for, where that words errors in another way. */
  readonly framing?: (query: URLSearchParams) => StreamFraming;
};

/** Errors as a chat dialect words them. */
export function wordingOf(dialect: DialectId): Wording {
  return { voice: chatDialects[dialect].voice, label: dialect };
}

/** The dialect that the headers of an SDK tell, on paths that say nothing of it. */
export function dialectOfHeaders(headers: RequestHeaders): DialectId {
  return headers['anthropic-version'] !== undefined || headers['vendor-version'] !== undefined ? 'anthropic-messages' : 'openai-chat';
}
