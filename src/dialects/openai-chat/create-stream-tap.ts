import type { Frame } from '../../platform/frames.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { ErrorInReply, FrameVerdict, StreamReport, StreamTap, TapOptions } from '../chat-dialect.ts';
import { decodeUsage } from './decode-usage.ts';
import { isError, readError } from './read-error.ts';
import { stringsOf, type TextForm, TextFrames } from '../text-frames.ts';
import { countGeneratedCharacters } from './read-reply.ts';

type TapState = {
  readonly hidesUsage: boolean;
  /** The number of choices that the client requested. Each of them must finish. */
  readonly choicesRequested: number;
  terminal: 'none' | 'done' | 'failed';
  hasContent: boolean;
  malformedFrames: number;
  outputCharacters: number;
  /** Characters that had passed at the last count of output tokens. */
  countedCharacters: number;
  rawUsage: JsonValue | undefined;
  /** Whether counts arrived with the end of the last choice or after it. */
  hasLastUsage: boolean;
  usageTrustworthy: boolean;
  serviceTier: JsonValue | undefined;
  servedModel: string | undefined;
  stopReason: string | undefined;
  readonly choicesSeen: Set<number>;
  /** Absent until the first has finished. */
  choicesFinished: Set<number> | undefined;
  error: ErrorInReply | undefined;
};

/**
 * Reads a chat completions stream while it passes. Every frame is passed unchanged, except the chunk with only usage.
 * The gateway always requests it, and hides it from a client that did not.
 */
export function createStreamTap(options: TapOptions): StreamTap {
  const tap = startTap(options.request);
  const texts = new TextFrames(textForm);
  return {
    read: (frame) => {
      const { outputCharacters, servedModel, serviceTier } = tap;
      const verdict = readFrame(tap, frame);
      // Each chunk has both, and the last one counts.
      if (tap.servedModel !== servedModel || tap.serviceTier !== serviceTier) texts.forget();
      if (tap.outputCharacters > outputCharacters) texts.learn(frame);
      return verdict;
    },
    skim: (chunk) => {
      const frames = texts.read(chunk);
      if (frames > 0) tap.outputCharacters += texts.characters;
      return frames;
    },
    state: () => stateOf(tap),
    hasContent: () => tap.hasContent,
    report: () => reportOf(tap),
  };
}

function startTap(request: TapOptions['request']): TapState {
  const options = request.stream_options;
  return {
    hidesUsage: !isJsonObject(options) || options.include_usage !== true,
    choicesRequested: typeof request.n === 'number' ? request.n : 1,
    terminal: 'none',
    hasContent: false,
    malformedFrames: 0,
    outputCharacters: 0,
    countedCharacters: 0,
    rawUsage: undefined,
    hasLastUsage: false,
    usageTrustworthy: true,
    serviceTier: undefined,
    servedModel: undefined,
    stopReason: undefined,
    choicesSeen: new Set(),
    choicesFinished: undefined,
    error: undefined,
  };
}

function readFrame(tap: TapState, frame: Frame): FrameVerdict {
  if (frame.data === '') return 'forward';
  if (frame.data.startsWith('[DONE]')) {
    if (tap.terminal === 'none') tap.terminal = 'done';
    return 'forward';
  }
  const chunk = frame.object();
  if (chunk !== undefined) return readChunk(tap, chunk, frame.event);
  // It is counted and passed on, and the client handles it.
  tap.malformedFrames += 1;
  if (frame.event === 'error') fail(tap, readError(frame.data));
  return 'forward';
}

function readChunk(tap: TapState, chunk: JsonObject, eventName: string | undefined): FrameVerdict {
  if (isError(chunk.error)) fail(tap, readError(chunk.error, chunk));
  else if (eventName === 'error') fail(tap, readError(chunk));
  if (typeof chunk.model === 'string' && chunk.model !== '') tap.servedModel = chunk.model;
  if (typeof chunk.service_tier === 'string') tap.serviceTier = chunk.service_tier;
  const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
  for (const choice of choices) if (isJsonObject(choice)) readChoice(tap, choice);
  readUsage(tap, chunk.usage);
  const isUsageOnly = choices.length === 0 && isJsonObject(chunk.usage) && !isError(chunk.error);
  return isUsageOnly && tap.hidesUsage ? 'hide' : 'forward';
}

function readChoice(tap: TapState, choice: JsonObject): void {
  const index = typeof choice.index === 'number' ? choice.index : 0;
  tap.choicesSeen.add(index);
  tap.outputCharacters += countGeneratedCharacters(choice.delta);
  tap.hasContent ||= hasContent(choice);
  if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return;
  tap.choicesFinished ??= new Set();
  tap.choicesFinished.add(index);
  tap.stopReason ??= choice.finish_reason;
}

/** The characters of a chunk that only adds text to one choice. */
function countText(frame: Frame): number | undefined {
  const chunk = frame.object();
  if (chunk === undefined || frame.event !== undefined) return undefined;
  const { choices, usage, error } = chunk;
  if (isError(error) || (usage !== undefined && usage !== null)) return undefined;
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  const choice: unknown = choices[0];
  if (!isJsonObject(choice)) return undefined;
  const { finish_reason: finishReason, delta } = choice;
  return finishReason === undefined || finishReason === null ? countGeneratedCharacters(delta) : undefined;
}

const textForm: TextForm = { place: stringsOf('content', 'reasoning_content', 'reasoning', 'arguments'), countText };

/** The first chunk of a choice has only its role and an empty text. */
function hasContent({ delta, finish_reason: finishReason }: JsonObject): boolean {
  if (typeof finishReason === 'string' && finishReason !== '') return true;
  if (!isJsonObject(delta)) return false;
  for (const name in delta) {
    const value = delta[name];
    const isEmpty = value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
    if (name !== 'role' && !isEmpty) return true;
  }
  return false;
}

/**
 * Reports are cumulative at every position. The last value of each count applies, and an absent one keeps the earlier
 * value.
 */
function readUsage(tap: TapState, raw: JsonValue | undefined): void {
  const report = decodeUsage(raw);
  if (report === undefined) return;
  if (!report.trustworthy) tap.usageTrustworthy = false;
  if (report.usage.outputTokens !== undefined) tap.countedCharacters = tap.outputCharacters;
  if (tap.rawUsage !== undefined && Object.keys(report.usage).length === 0) return;
  tap.rawUsage = mergeUsage(tap.rawUsage, raw);
  tap.hasLastUsage ||= hasFinished(tap);
}

function mergeUsage(earlier: JsonValue | undefined, later: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(earlier) || !isJsonObject(later)) return later;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) };
}

function hasFinished({ choicesRequested, choicesSeen, choicesFinished }: TapState): boolean {
  return (choicesFinished?.size ?? 0) >= Math.max(choicesRequested, choicesSeen.size);
}

function fail(tap: TapState, error: ErrorInReply): void {
  if (tap.terminal !== 'none') return;
  tap.terminal = 'failed';
  tap.error = error;
}

/**
 * The dialect ends with `[DONE]`. Some servers omit it. Then a stream is complete if every choice has finished and
 * usage has arrived with the last end or after it; earlier counts are not final. Otherwise it is open, and its end is a
 * cut.
 */
function stateOf(tap: TapState): StreamReport['state'] {
  if (tap.terminal === 'failed') return 'failed';
  if (tap.terminal === 'done') return 'complete';
  return tap.hasLastUsage && hasFinished(tap) && isJsonObject(tap.rawUsage) ? 'complete' : 'open';
}

function reportOf(tap: TapState): StreamReport {
  const usageReport = decodeUsage(tap.rawUsage, tap.serviceTier);
  return {
    state: stateOf(tap),
    malformedFrames: tap.malformedFrames,
    outputCharacters: tap.outputCharacters,
    ...(usageReport !== undefined && {
      usageReport: {
        ...usageReport,
        trustworthy: usageReport.trustworthy && tap.usageTrustworthy,
        ...(tap.outputCharacters > tap.countedCharacters && { outputGoesOn: true }),
      },
    }),
    ...(tap.servedModel !== undefined && { servedModel: tap.servedModel }),
    ...(tap.stopReason !== undefined && { stopReason: tap.stopReason }),
    ...(tap.error !== undefined && { error: tap.error }),
  };
}
