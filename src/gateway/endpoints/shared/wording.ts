import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { CallLabel } from '../../telemetry/call-report.ts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How refusals of requests to a path are worded before a route handles them. */
export type Wording = {
  readonly voice: ErrorVoice;
  /** Their label in logs and metrics. */
  readonly label: CallLabel;
  /** The framing of the requested stream, if it changes the wording of errors. */
  readonly framing?: (query: URLSearchParams) => StreamFraming;
};

/** The wording of errors in a chat dialect. */
export function wordingOf(dialect: DialectId): Wording {
  return { voice: chatDialects[dialect].voice, label: dialect };
}

/** The dialect that the headers of an SDK imply, on paths that several dialects share. */
export function dialectOfHeaders(headers: RequestHeaders): DialectId {
  return headers['anthropic-version'] !== undefined || headers['vendor-version'] !== undefined ? 'anthropic-messages' : 'openai-chat';
}

/** Whether a path belongs to generate-content: its own versions, and methods of models, which follow a colon. */
export function speaksGenerateContent(path: string): boolean {
  return /^(?:\/upload)?\/v1(?:alpha|beta)/.test(path) || /^\/v1\/models\/.*(?::|%3a)/i.test(path);
}

/** Whether a path ends in a method of a model, which clients POST. The name of a model may contain a colon too. */
export function namesModelMethod(path: string): boolean {
  return /(?::|%3a)(?:generateContent|streamGenerateContent|countTokens)\/?$/i.test(path);
}
