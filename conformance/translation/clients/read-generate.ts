import assert from 'node:assert/strict';

import type { ClientView, ClientError, Stop } from '../conversation.ts';
import { readEvents } from '../read-events.ts';
import type { Wire } from '../wire.ts';

const refused = /^(?:SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION|IMAGE_SAFETY)$/;

function readStop(reply: Wire, candidate: Wire, hasCalls: boolean): Stop {
  if (candidate === undefined) {
    assert.match(reply.promptFeedback?.blockReason, /^[A-Z_]+$/, 'a reply without candidates has a reason');
    return 'refusal';
  }
  const reason: string = candidate.finishReason;
  if (refused.test(reason)) return 'refusal';
  if (reason === 'MAX_TOKENS') return 'length';
  assert.equal(reason, 'STOP');
  return hasCalls ? 'calls' : 'end';
}

function readUsage(usage: Wire): ClientView['usage'] {
  if (typeof usage?.promptTokenCount !== 'number') return undefined;
  const { promptTokenCount: prompt, candidatesTokenCount: candidates = 0, thoughtsTokenCount: reasoning = 0 } = usage;
  const input = prompt + (usage.toolUsePromptTokenCount ?? 0);
  // If a count is unknown, so is the sum.
  if (usage.totalTokenCount !== undefined)
    assert.equal(usage.totalTokenCount, input + candidates + reasoning, 'totalTokenCount is the sum');
  return { input, cached: usage.cachedContentTokenCount ?? 0, output: candidates + reasoning, reasoning };
}

/** Segments count the bytes of UTF-8. */
function readCitations(grounding: Wire, parts: readonly Wire[]): ClientView['citations'] {
  return (grounding?.groundingSupports ?? []).flatMap(({ segment, groundingChunkIndices }: Wire) => {
    const bytes = Buffer.from(parts[segment.partIndex ?? 0]?.text ?? '');
    const cited = bytes.subarray(segment.startIndex ?? 0, segment.endIndex).toString();
    if (segment.text !== undefined) assert.equal(segment.text, cited, 'the segment matches its offsets');
    return groundingChunkIndices.map((index: number) => ({ url: grounding.groundingChunks[index].web.uri, cited }));
  });
}

function checkPart(part: Wire): void {
  const known = ['text', 'functionCall', 'inlineData', 'executableCode', 'codeExecutionResult'].filter((name) => part[name] !== undefined);
  assert.equal(known.length, 1, `a part has one content: ${JSON.stringify(part)}`);
  if (part.functionCall !== undefined) {
    const { name, args } = part.functionCall;
    assert.equal(typeof name, 'string');
    assert.ok(args === undefined || (typeof args === 'object' && args !== null && !Array.isArray(args)), 'args are an object');
  }
  if (part.thoughtSignature !== undefined) assert.match(part.thoughtSignature, /^[A-Za-z0-9+/_-]+={0,2}$/, 'signatures are base64');
}

const joinTexts = (parts: readonly Wire[]): string => parts.map(({ text }) => text).join('');

/** Reads a reply, whole or assembled from a stream. */
export function readGeneration(reply: Wire): ClientView {
  const [candidate, ...others] = reply.candidates ?? [];
  assert.equal(others.length, 0, 'one candidate');
  assert.equal(typeof reply.responseId, 'string');
  const parts: readonly Wire[] = candidate?.content?.parts ?? [];
  for (const part of parts) checkPart(part);
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
  const grounding = candidate?.groundingMetadata;
  return {
    model: reply.modelVersion,
    text: joinTexts(parts.filter((part) => part.text !== undefined && part.thought !== true)),
    refusal: '',
    reasoning: joinTexts(parts.filter((part) => part.thought === true)),
    calls: calls.map(({ id = '', name, args = {} }) => ({ id, name, arguments: args })),
    stop: readStop(reply, candidate, calls.length > 0),
    usage: readUsage(reply.usageMetadata),
    citations: readCitations(grounding, parts),
    searches: (grounding?.webSearchQueries ?? []).length > 0 ? 1 : 0,
    turn: parts.length === 0 ? [] : [{ role: 'model', parts }],
  };
}

/** Consecutive texts of one kind are pieces of one part; a signature closes it. */
function addPart(parts: Wire[], part: Wire): void {
  const last = parts.at(-1);
  const continues =
    last?.text !== undefined && part.text !== undefined && last.thought === part.thought && last.thoughtSignature === undefined;
  if (continues) Object.assign(last, part, { text: last.text + part.text });
  else if (part.text !== '' || part.thoughtSignature !== undefined) parts.push({ ...part });
}

/** Reads a streamed reply. */
export function readGenerationStream(text: string): ClientView {
  return addUpChunks(readEvents(text).map(({ data }) => data));
}

/** Reads a streamed reply that comes as the pieces of one JSON array. */
export function readGenerationArray(text: string): ClientView {
  return addUpChunks(JSON.parse(text) as Wire[]);
}

function addUpChunks(said: readonly Wire[]): ClientView {
  // A chunk of an empty usage keeps the connection alive.
  const chunks = said.filter((chunk) => JSON.stringify(chunk) !== '{"usageMetadata":{}}');
  const parts: Wire[] = [];
  let reply: Wire = {};
  let candidate: Wire;
  for (const chunk of chunks) {
    assert.equal(chunk.responseId, chunks[0].responseId, 'one id');
    assert.equal(candidate?.finishReason, undefined, 'nothing follows finishReason');
    const { candidates, ...members } = chunk;
    reply = { ...reply, ...members };
    const [one] = candidates ?? [];
    if (one === undefined) continue;
    for (const part of one.content?.parts ?? []) addPart(parts, part);
    candidate = { ...candidate, ...one };
  }
  if (candidate === undefined) return readGeneration(reply);
  assert.notEqual(candidate.finishReason, undefined, 'the stream ends with a finishReason');
  return readGeneration({ ...reply, candidates: [{ ...candidate, content: { role: 'model', parts } }] });
}

/** Reads an error body. */
export function readGenerateError(status: number, body: Wire): ClientError {
  assert.equal(body.error.code, status);
  return { status, type: body.error.status, message: body.error.message };
}

/** Reads the error that ends a broken stream. */
export function readBrokenGenerationStream(text: string): ClientError {
  const chunks = readEvents(text).map(({ data }) => data);
  const { error } = chunks.at(-1);
  assert.ok(error, 'a broken stream ends with an error');
  assert.ok(!chunks.some((chunk) => chunk.candidates?.[0]?.finishReason), 'a broken stream has no finishReason');
  return { status: 200, type: error.status, message: error.message };
}
