import type { UsageReport } from '../../inference/usage.ts';
import type { Frame } from '../../platform/frames.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ErrorInReply, FrameVerdict, StreamReport, StreamTap } from '../chat-dialect.ts';
import { stringsOf, type TextForm, TextFrames } from '../text-frames.ts';
import { decodeUsage, mergeUsage } from './decode-usage.ts';
import { readError } from './read-error.ts';
import { countBlockCharacters } from './read-reply.ts';

type TapState = {
  state: StreamReport['state'];
  hasContent: boolean;
  malformedFrames: number;
  outputCharacters: number;
  /** Characters that had passed at the last count of output. */
  countedCharacters: number;
  rawUsage: JsonValue | undefined;
  usageTrustworthy: boolean;
  servedModel: string | undefined;
  replyId: string | undefined;
  stopReason: string | undefined;
  error: ErrorInReply | undefined;
};

/**
 * Reads a Messages stream that passes. Every frame is forwarded unchanged, including types that this dialect does not
 * know. The first terminal event decides the state; usage counts at any time, even after it.
 */
export function createStreamTap(): StreamTap {
  const tap: TapState = {
    state: 'open',
    hasContent: false,
    malformedFrames: 0,
    outputCharacters: 0,
    countedCharacters: 0,
    rawUsage: undefined,
    usageTrustworthy: true,
    servedModel: undefined,
    replyId: undefined,
    stopReason: undefined,
    error: undefined,
  };
  const texts = new TextFrames(textForm);
  return {
    read: (frame): FrameVerdict => {
      // Imitating servers end with `[DONE]` of chat completions, which is neither an event of this dialect nor damage.
      if (frame.data === '' || frame.event === 'ping' || frame.data === '[DONE]') return 'forward';
      const before = tap.outputCharacters;
      readFrame(tap, frame);
      if (tap.outputCharacters > before) texts.learn(frame);
      return 'forward';
    },
    skim: (chunk) => {
      const frames = texts.read(chunk);
      if (frames > 0) tap.outputCharacters += texts.characters;
      return frames;
    },
    state: () => tap.state,
    hasContent: () => tap.hasContent,
    report: () => reportOf(tap),
  };
}

function readFrame(tap: TapState, frame: Frame): void {
  const event = frame.object();
  if (event !== undefined) readEvent(tap, event, frame.event);
  // It is counted and forwarded; the client decides how to handle it.
  else readMalformedFrame(tap, frame);
}

function readMalformedFrame(tap: TapState, frame: Frame): void {
  tap.malformedFrames += 1;
  if (frame.event === 'error') fail(tap, readError(frame.data));
}

function readEvent(tap: TapState, event: JsonObject, eventName: string | undefined): void {
  switch (typeof event.type === 'string' ? event.type : (eventName ?? '')) {
    case 'message_start':
      readMessageStart(tap, event);
      break;
    case 'content_block_start':
      readBlock(tap, event.content_block);
      break;
    case 'content_block_delta':
      tap.hasContent = true;
      tap.outputCharacters += countDeltaCharacters(event.delta);
      break;
    case 'message_delta':
      readMessageDelta(tap, event);
      break;
    case 'message_stop':
      if (tap.state === 'open') tap.state = 'complete';
      break;
    case 'error':
      fail(tap, readError(event.error, event));
      break;
    default:
      // The vendor may add event types at any time, and they do not matter here. Some imitating servers report a
      // failure as an error without a type.
      if (isJsonObject(event.error)) fail(tap, readError(event.error, event));
  }
}

function readMessageStart(tap: TapState, event: JsonObject): void {
  if (!isJsonObject(event.message)) return;
  if (typeof event.message.model === 'string') tap.servedModel = event.message.model;
  if (typeof event.message.id === 'string') tap.replyId = event.message.id;
  readUsage(tap, event.message.usage);
}

/** Blocks that begin empty and are filled by deltas. Blocks of the vendor's own tools begin with the tool's input. */
const filledLater = new Set(['text', 'thinking', 'tool_use']);

function readBlock(tap: TapState, block: JsonValue | undefined): void {
  const characters = countBlockCharacters(block);
  tap.outputCharacters += characters;
  if (characters > 0 || !isJsonObject(block) || typeof block.type !== 'string' || !filledLater.has(block.type)) tap.hasContent = true;
}

/** The vendor sends usage beside `delta`, the contract inside. */
function readMessageDelta(tap: TapState, event: JsonObject): void {
  if (isJsonObject(event.delta)) {
    if (typeof event.delta.stop_reason === 'string') tap.stopReason = event.delta.stop_reason;
    readUsage(tap, event.delta.usage);
  }
  readUsage(tap, event.usage);
}

function readUsage(tap: TapState, raw: JsonValue | undefined): void {
  const report = decodeUsage(raw);
  if (report === undefined) return;
  if (!report.trustworthy) tap.usageTrustworthy = false;
  if (report.usage.outputTokens !== undefined) tap.countedCharacters = tap.outputCharacters;
  tap.rawUsage = mergeUsage(tap.rawUsage, raw);
}

/** The characters of an event that only adds text to a block. */
function countText(frame: Frame): number | undefined {
  const event = frame.object();
  return event?.type === 'content_block_delta' ? countDeltaCharacters(event.delta) : undefined;
}

const textForm: TextForm = { place: stringsOf('text', 'thinking', 'partial_json'), countText };

function countDeltaCharacters(delta: JsonValue | undefined): number {
  if (!isJsonObject(delta)) return 0;
  const generated = delta.text ?? delta.thinking ?? delta.partial_json;
  return typeof generated === 'string' ? generated.length : 0;
}

function fail(tap: TapState, error: ErrorInReply): void {
  if (tap.state !== 'open') return;
  tap.state = 'failed';
  tap.error = error;
}

function reportOf(tap: TapState): StreamReport {
  const usageReport = reportUsage(tap);
  return {
    state: tap.state,
    malformedFrames: tap.malformedFrames,
    outputCharacters: tap.outputCharacters,
    ...(usageReport !== undefined && { usageReport }),
    ...(tap.servedModel !== undefined && { servedModel: tap.servedModel }),
    ...(tap.replyId !== undefined && { replyId: tap.replyId }),
    ...(tap.stopReason !== undefined && { stopReason: tap.stopReason }),
    ...(tap.error !== undefined && { error: tap.error }),
  };
}

function reportUsage(tap: TapState): UsageReport | undefined {
  const report = decodeUsage(tap.rawUsage);
  if (report === undefined) return undefined;
  // The count of `message_start` covers only the output before it: one or two tokens.
  const goesOn = tap.outputCharacters > tap.countedCharacters;
  return { ...report, trustworthy: report.trustworthy && tap.usageTrustworthy, ...(goesOn && { outputGoesOn: true }) };
}
