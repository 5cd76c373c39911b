import type { UsageReport } from '../../inference/usage.ts';
import { filledText } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';
import { decodeGeminiUsage } from '../decode-gemini-usage.ts';

/** The state of one candidate after the chunks so far. */
type CandidateState = { readonly finishReason?: string; readonly webSearchQueries?: readonly unknown[] };

/** The state of a reply after the chunks so far. A whole reply is one chunk. */
export type ReplyState = {
  readonly candidates: ReadonlyMap<number, CandidateState>;
  /** `usageMetadata` merged field by field: counts are cumulative, so the last value of each applies. */
  readonly usageMetadata?: JsonObject;
  readonly servedModel?: string;
  readonly blockReason?: string;
  readonly outputCharacters: number;
  /** Characters that had passed at the last count of output. */
  readonly countedCharacters: number;
  readonly error?: ErrorInReply;
};

export const emptyReplyState: ReplyState = { candidates: new Map(), outputCharacters: 0, countedCharacters: 0 };

function countPartCharacters(part: unknown): number {
  if (!isJsonObject(part)) return 0;
  let characters = typeof part.text === 'string' ? part.text.length : 0;
  if (isJsonObject(part.functionCall)) characters += JSON.stringify(part.functionCall.args ?? {}).length;
  if (isJsonObject(part.executableCode) && typeof part.executableCode.code === 'string') characters += part.executableCode.code.length;
  return characters;
}

function countCandidateCharacters(candidate: JsonObject): number {
  const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
  if (!Array.isArray(parts)) return 0;
  return parts.reduce<number>((sum, part) => sum + countPartCharacters(part), 0);
}

function readCandidate(candidate: JsonObject, earlier: CandidateState = {}): CandidateState {
  const { finishReason, groundingMetadata } = candidate;
  const queries = isJsonObject(groundingMetadata) ? groundingMetadata.webSearchQueries : undefined;
  return {
    ...earlier,
    ...(typeof finishReason === 'string' && finishReason !== 'FINISH_REASON_UNSPECIFIED' && { finishReason }),
    // Early chunks have an empty grounding, and the full object may come twice: the last value with content applies.
    ...(Array.isArray(queries) && queries.length > 0 && { webSearchQueries: queries }),
  };
}

/** Reads `{code, message, status}`. */
function readErrorObject(error: JsonObject): ErrorInReply {
  const message = filledText(error.message) ?? 'The upstream reported an error without a message.';
  return describeErrorInReply(message, error);
}

/** Adds a chunk, or a whole reply, to the state, which is replaced and not modified. */
export function readChunk(state: ReplyState, chunk: JsonObject): ReplyState {
  const candidates = new Map(state.candidates);
  let { outputCharacters } = state;
  for (const candidate of Array.isArray(chunk.candidates) ? chunk.candidates : []) {
    if (!isJsonObject(candidate)) continue;
    // Proto leaves a zero out.
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    candidates.set(index, readCandidate(candidate, candidates.get(index)));
    outputCharacters += countCandidateCharacters(candidate);
  }
  // Keep-alive chunks contain an empty one.
  const usage = isJsonObject(chunk.usageMetadata) && Object.keys(chunk.usageMetadata).length > 0 ? chunk.usageMetadata : undefined;
  const blockReason = isJsonObject(chunk.promptFeedback) ? chunk.promptFeedback.blockReason : undefined;
  return {
    ...state,
    candidates,
    outputCharacters,
    ...(countsOutput(usage) && { countedCharacters: outputCharacters }),
    ...(usage !== undefined && { usageMetadata: { ...state.usageMetadata, ...usage } }),
    ...(typeof chunk.modelVersion === 'string' && { servedModel: chunk.modelVersion }),
    ...(typeof blockReason === 'string' && { blockReason }),
    ...(isJsonObject(chunk.error) && state.error === undefined && { error: readErrorObject(chunk.error) }),
  };
}

function countsOutput({ candidatesTokenCount, thoughtsTokenCount }: JsonObject = {}): boolean {
  return (candidatesTokenCount ?? thoughtsTokenCount ?? undefined) !== undefined;
}

/** Whether every candidate has ended, or the prompt was blocked so that there will be none. */
export function isFinished(state: ReplyState): boolean {
  if (state.blockReason !== undefined) return true;
  const candidates = [...state.candidates.values()];
  return candidates.length > 0 && candidates.every((candidate) => candidate.finishReason !== undefined);
}

/** Finds the stop reason: that of the first candidate, or why the prompt was blocked. */
export function findStopReason(state: ReplyState): string | undefined {
  const first = [...state.candidates].toSorted(([a], [b]) => a - b)[0]?.[1];
  return first?.finishReason ?? state.blockReason;
}

/** Returns the usage so far. Searches are billed by query, and the candidates of one reply share theirs. */
export function findUsage(state: ReplyState, isFinal: boolean): UsageReport | undefined {
  const { outputCharacters, countedCharacters } = state;
  // A total that equals the prompt proves an empty output only if no output has passed.
  const counted = decodeGeminiUsage(state.usageMetadata, isFinal && outputCharacters === 0);
  const report = counted === undefined || outputCharacters <= countedCharacters ? counted : { ...counted, outputGoesOn: true as const };
  const queries = new Set([...state.candidates.values()].flatMap((candidate) => candidate.webSearchQueries ?? []));
  if (queries.size === 0) return report;
  const base = report ?? { usage: {}, raw: null, trustworthy: true };
  return { ...base, usage: { ...base.usage, webSearches: queries.size } };
}
