import type { UsageReport } from '../../inference/usage.ts';
import type { Frame } from '../../platform/frames.ts';
import { filledText, membersOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply, FrameVerdict, StreamReport, StreamTap } from '../chat-dialect.ts';
import { describeGuardrail } from '../guardrail-findings.ts';
import { decodeUsage } from './decode-usage.ts';
import { isPromptRefused } from './read-reply.ts';

/**
 * The statuses of exceptions in a stream. Source: ConverseStreamOutput of the Bedrock API reference; a failure of the
 * model itself, which has the status 424 there, is one of the upstream.
 */
const statusOfException: Readonly<Record<string, number>> = {
  internalserverexception: 500,
  modelstreamerrorexception: 500,
  modeltimeoutexception: 504,
  serviceunavailableexception: 503,
  throttlingexception: 429,
  validationexception: 400,
};

type TapState = {
  state: StreamReport['state'];
  /** Pieces of content that have passed. */
  pieces: number;
  hasContent: boolean;
  malformedFrames: number;
  outputCharacters: number;
  usageReport: UsageReport | undefined;
  stopReason: string | undefined;
  /** The text so far, as long as it may be the message of a guardrail. */
  onlyText: string;
  error: ErrorInReply | undefined;
};

/**
 * Reads a stream of ConverseStream. Its frames have the name of their event, and exceptions `exception:` before it.
 *
 * A guardrail that refuses the prompt answers with one piece of text, and only the end says that no model was called.
 * So the first piece of text alone is not content yet: until the second, another upstream can still answer.
 */
export function createStreamTap(): StreamTap {
  const tap: TapState = {
    state: 'open',
    pieces: 0,
    hasContent: false,
    malformedFrames: 0,
    outputCharacters: 0,
    usageReport: undefined,
    stopReason: undefined,
    onlyText: '',
    error: undefined,
  };
  return {
    read: (frame): FrameVerdict => {
      readFrame(tap, frame);
      return 'forward';
    },
    state: () => tap.state,
    hasContent: () => tap.hasContent,
    report: () => reportOf(tap),
  };
}

function readFrame(tap: TapState, frame: Frame): void {
  const { event = '' } = frame;
  if (frame.data === '' && event === '') return;
  const failed = failureIn(event);
  const payload = frame.object();
  if (failed !== undefined) return fail(tap, describeException(failed, payload));
  if (payload === undefined) tap.malformedFrames += 1;
  else readEvent(tap, event, payload);
}

/** The kind of an exception or error by the name of its event. Undefined for other events. */
export const failureIn = (event: string): string | undefined => /^(?:exception|error):(.*)$/.exec(event)?.[1];

function describeException(kind: string, payload: JsonObject | undefined): ErrorInReply {
  const { message, originalMessage } = membersOf(payload);
  const status = statusOfException[kind.toLowerCase()] ?? 500;
  return { message: filledText(message) ?? filledText(originalMessage) ?? kind, status };
}

function readEvent(tap: TapState, event: string, payload: JsonObject): void {
  switch (event) {
    case 'contentBlockStart':
      if (payload.start !== undefined) tap.hasContent = true;
      break;
    case 'contentBlockDelta':
      readDelta(tap, membersOf(payload.delta));
      break;
    case 'messageStop':
      readStop(tap, payload);
      break;
    case 'metadata':
      readMetadata(tap, payload);
      break;
    default:
  }
}

function readDelta(tap: TapState, { text, toolUse, reasoningContent }: JsonObject): void {
  const said = textOf(text) ?? '';
  const others = (textOf(membersOf(toolUse).input) ?? '') + (textOf(membersOf(reasoningContent).text) ?? '');
  tap.outputCharacters += said.length + others.length;
  tap.pieces += 1;
  if (tap.pieces > 1 || said === '') tap.hasContent = true;
  tap.onlyText = tap.hasContent ? '' : said;
}

function readStop(tap: TapState, { stopReason }: JsonObject): void {
  tap.stopReason = textOf(stopReason) ?? tap.stopReason;
  // What a guardrail has done is known with the usage.
  if (tap.stopReason === 'guardrail_intervened' && !tap.hasContent) return;
  tap.hasContent = true;
  if (tap.state === 'open') tap.state = 'complete';
}

function readMetadata(tap: TapState, { usage, serviceTier, trace }: JsonObject): void {
  tap.usageReport = decodeUsage(usage, serviceTier) ?? tap.usageReport;
  if (tap.stopReason === undefined || tap.state !== 'open') return;
  if (isPromptRefused(tap.stopReason, usage)) {
    // No model has written these words, and the error has them.
    tap.outputCharacters = 0;
    return fail(tap, { message: tap.onlyText, status: 400, filtered: describeGuardrail(membersOf(trace).guardrail) });
  }
  tap.hasContent = true;
  tap.state = 'complete';
}

function fail(tap: TapState, error: ErrorInReply): void {
  if (tap.state !== 'open') return;
  tap.state = 'failed';
  tap.error = error;
}

function reportOf(tap: TapState): StreamReport {
  return {
    state: tap.state,
    malformedFrames: tap.malformedFrames,
    outputCharacters: tap.outputCharacters,
    ...(tap.usageReport !== undefined && { usageReport: tap.usageReport }),
    ...(tap.stopReason !== undefined && { stopReason: tap.stopReason }),
    ...(tap.error !== undefined && { error: tap.error }),
  };
}
