import { splitText } from '../../count-tokens.ts';
import { countToolCall } from '../../plan-reply.ts';
import type { JsonRecord, ReplyPlan, SimulatedReply } from '../../simulated-vendor.ts';
import { signsThoughts } from './check-generate-content.ts';
import { writeErrorBody } from './gemini-error.ts';
import { wantsBareEnum } from './generate-content-plan.ts';
import type { GenerateContentRequest } from './generate-content-schema.ts';
import { signThought } from './thought-signature.ts';
import { writeGrounding, writeUrlContext } from './write-grounding.ts';
import { type GeneratedTokens, writeUsage } from './write-usage.ts';

/** A call and its plan. */
export type Generation = {
  readonly model: string;
  readonly body: GenerateContentRequest;
  readonly plan: ReplyPlan;
  /** The query of a simulated search. */
  readonly query: string;
  readonly promptText: string;
};

/** A part of the reply with the tokens that it delivers. */
type WrittenPart = { readonly part: JsonRecord; readonly generated: GeneratedTokens };

const overloaded = 'The model is overloaded. Please try again later.';
const sseHeaders = { 'content-type': 'text/event-stream' };
const jsonHeaders = { 'content-type': 'application/json; charset=UTF-8' };
const nothing: GeneratedTokens = { candidateTokens: 0, thoughtTokens: 0 };

/** Writes the reply of generateContent, formatted like the vendor's. */
export function writeWholeReply(generation: Generation): SimulatedReply {
  const { plan, body } = generation;
  const headers = jsonHeaders;
  if (isBlocked(plan)) return { type: 'whole', status: 200, headers, body: print(writeBlocked(generation)), plan: withoutOutput(plan) };
  const parts = writeParts(generation, false);
  const isUnsafe = plan.stop === 'content-filter';
  // A blocked answer has an empty content, and one that ran out of tokens while thinking has only a role.
  const content: JsonRecord = isUnsafe ? {} : { ...(parts.length > 0 && { parts: parts.map(({ part }) => part) }), role: 'model' };
  const candidate: JsonRecord = {
    content,
    ...writeEnding(generation, partIndexOf(parts)),
    ...writeLogprobs(body, replyText(generation)),
  };
  const { outputTokens, reasoningTokens } = plan.usage;
  const generated = { candidateTokens: outputTokens - reasoningTokens, thoughtTokens: reasoningTokens };
  return { type: 'whole', status: 200, headers, body: print(writeChunk(generation, candidate, generated)), plan };
}

/** Writes the reply of streamGenerateContent: server-sent events, or the pieces of one JSON array. */
export function writeStreamedReply(generation: Generation, isSse: boolean): SimulatedReply {
  const { plan } = generation;
  const { chunks, tokens } = isBlocked(plan) ? { chunks: [writeBlocked(generation)], tokens: [0] } : writeChunks(generation);
  const frames = isSse ? chunks.map(frameSse) : [...chunks.map((chunk, index) => `${index === 0 ? '[' : ',\r\n'}${print(chunk)}`), '\r\n]'];
  const firstContentFrame = tokens.findIndex((count) => count > 0);
  const error = writeErrorBody(503, overloaded);
  return {
    type: 'stream',
    headers: isSse ? sseHeaders : jsonHeaders,
    frames,
    frameTokens: isSse ? tokens : [...tokens, 0],
    firstContentFrame: Math.max(0, firstContentFrame),
    errorFrame: isSse ? `data: ${JSON.stringify(error)}\r\n\r\n` : `,\r\n${JSON.stringify(error)}\r\n]`,
    plan: isBlocked(plan) ? withoutOutput(plan) : plan,
  };
}

function frameSse(chunk: JsonRecord): string {
  return `data: ${JSON.stringify(chunk)}\r\n\r\n`;
}

function print(body: JsonRecord): string {
  return JSON.stringify(body, null, 2);
}

/** A refusal of this vendor blocks the prompt: nothing is generated, and there is no candidate. */
function isBlocked(plan: ReplyPlan): boolean {
  return plan.stop === 'refusal' || plan.refusal !== undefined;
}

function withoutOutput(plan: ReplyPlan): ReplyPlan {
  return { ...plan, usage: { ...plan.usage, outputTokens: 0, reasoningTokens: 0 } };
}

function writeBlocked(generation: Generation): JsonRecord {
  return {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: writeUsage(generation.body, generation.plan.usage, nothing),
    ...writeNames(generation),
  };
}

function writeNames({ model, plan }: Generation): JsonRecord {
  return { modelVersion: model, responseId: plan.id };
}

function writeChunk(generation: Generation, candidate: JsonRecord, generated: GeneratedTokens): JsonRecord {
  return {
    candidates: [candidate],
    usageMetadata: writeUsage(generation.body, generation.plan.usage, generated),
    ...writeNames(generation),
  };
}

/** Cumulative usage on every chunk, only new text, and the finish reason on the last. */
function writeChunks(generation: Generation): { chunks: JsonRecord[]; tokens: number[] } {
  const { plan } = generation;
  const parts = writeParts(generation, true);
  // Invisible output, as in an empty reply, is delivered with the last chunk.
  const shown = parts.reduce((sum, { generated }) => sum + generated.candidateTokens + generated.thoughtTokens, 0);
  const isUnsafe = plan.stop === 'content-filter';
  if (parts.length === 0 || isUnsafe) parts.push({ part: { text: '' }, generated: nothing });
  const ending = writeEnding(generation, 0);
  const hasGrounding = 'groundingMetadata' in ending;
  let candidateTokens = 0;
  let thoughtTokens = 0;
  const chunks: JsonRecord[] = [];
  const tokens: number[] = [];
  for (const [index, { part, generated }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const rest = isLast ? Math.max(0, plan.usage.outputTokens - shown) : 0;
    candidateTokens += generated.candidateTokens + rest;
    thoughtTokens += generated.thoughtTokens;
    const content = isLast && isUnsafe ? {} : { content: { parts: [part], role: 'model' } };
    const said = typeof part.text === 'string' && part.thought !== true ? part.text : undefined;
    const likely = writeLogprobs(generation.body, said);
    const candidate = { ...content, ...likely, ...(isLast ? ending : { index: 0, ...(hasGrounding && { groundingMetadata: {} }) }) };
    chunks.push(writeChunk(generation, candidate, { candidateTokens, thoughtTokens }));
    tokens.push(generated.candidateTokens + generated.thoughtTokens + rest);
  }
  return { chunks, tokens };
}

/** The parts of the reply; `isStreamed` cuts the texts into the pieces of a stream. */
function writeParts(generation: Generation, isStreamed: boolean): WrittenPart[] {
  const { plan, body } = generation;
  const cut = (text: string): readonly { readonly text: string; readonly tokens: number }[] =>
    isStreamed ? splitText(text, plan.tokensPerFrame) : [{ text, tokens: 0 }];
  const parts: WrittenPart[] = [];
  const showsThoughts = body.generationConfig?.thinkingConfig?.includeThoughts === true;
  if (plan.reasoning && showsThoughts) {
    for (const { text, tokens } of cut(plan.reasoning.text)) {
      parts.push({ part: { text, thought: true }, generated: { candidateTokens: 0, thoughtTokens: tokens } });
    }
  }
  if (plan.unknownBlock) parts.push({ part: { simulatedUnknownPart: { note: 'simulated' } }, generated: nothing });
  const text = replyText(generation);
  if (text !== undefined && plan.toolCalls.length === 0) parts.push(...writeCodeExecution(body));
  for (const piece of text === undefined ? [] : cut(text)) {
    parts.push({ part: { text: piece.text }, generated: { candidateTokens: piece.tokens, thoughtTokens: 0 } });
  }
  for (const call of plan.toolCalls) {
    const args = Object.keys(call.arguments).length > 0 ? { args: call.arguments } : {};
    parts.push({
      part: { functionCall: { name: call.name, ...args } },
      generated: { candidateTokens: countToolCall(call), thoughtTokens: 0 },
    });
  }
  signParts(generation, parts);
  // Hidden thoughts precede everything else.
  const [first, ...others] = parts;
  if (first && !showsThoughts)
    return [{ ...first, generated: { ...first.generated, thoughtTokens: plan.usage.reasoningTokens } }, ...others];
  return parts;
}

function replyText({ plan, body }: Generation): string | undefined {
  if (plan.text === undefined || !wantsBareEnum(body)) return plan.text;
  return plan.text.replace(/^"(.*)"$/s, '$1');
}

/** The signature is on the first call, or on the last part without calls. */
function signParts({ model, plan }: Generation, parts: WrittenPart[]): void {
  if (!plan.reasoning && !signsThoughts(model)) return;
  const firstCall = parts.findIndex(({ part }) => part.functionCall !== undefined);
  const index = firstCall < 0 ? parts.length - 1 : firstCall;
  const written = parts[index];
  if (!written || written.part.thought === true) return;
  parts[index] = { ...written, part: { ...written.part, thoughtSignature: signThought(plan.reasoning?.text ?? plan.id) } };
}

function writeCodeExecution(body: GenerateContentRequest): WrittenPart[] {
  if (!(body.tools ?? []).some((tool) => tool.codeExecution !== undefined)) return [];
  return [
    { part: { executableCode: { language: 'PYTHON', code: "print('simulated')\n" } }, generated: nothing },
    { part: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'simulated\n' } }, generated: nothing },
  ];
}

function partIndexOf(parts: readonly WrittenPart[]): number {
  return Math.max(
    0,
    parts.findIndex(({ part }) => typeof part.text === 'string' && part.thought !== true),
  );
}

/** The end of a candidate in its last or only chunk. */
function writeEnding(generation: Generation, partIndex: number): JsonRecord {
  const { plan, body, query, promptText } = generation;
  const text = replyText(generation);
  const isSearched = text !== undefined && text !== '' && plan.toolCalls.length === 0 && plan.stop !== 'content-filter';
  const grounding = isSearched ? writeGrounding(body, text, query, partIndex) : undefined;
  const urlContext = isSearched ? writeUrlContext(body, promptText) : undefined;
  return {
    finishReason: finishReason(plan),
    index: 0,
    ...(plan.stop === 'tool-use' && { finishMessage: 'Model generated function call(s).' }),
    ...(plan.stop === 'content-filter' && {
      safetyRatings: [
        { category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'LOW', blocked: true },
        { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'NEGLIGIBLE' },
      ],
    }),
    ...(grounding && { groundingMetadata: grounding }),
    ...(urlContext && { urlContextMetadata: urlContext }),
  };
}

/**
 * The simulated log probabilities of the text's tokens, if requested. The chosen token is the first of its
 * alternatives.
 */
function writeLogprobs({ generationConfig }: GenerateContentRequest, text: string | undefined): JsonRecord {
  if (generationConfig?.responseLogprobs !== true || text === undefined || text === '') return {};
  const likely = splitText(text, 1).map((piece, at) => ({ token: piece.text, logProbability: -0.125 * (1 + (at % 4)) }));
  const top = generationConfig.logprobs ?? 0;
  const others = likely.map(({ token, logProbability }) => ({
    candidates: Array.from({ length: top }, (_, place) => ({
      token: place === 0 ? token : `~${place}`,
      logProbability: logProbability - place,
    })),
  }));
  return { logprobsResult: { ...(top > 0 && { topCandidates: others }), chosenCandidates: likely } };
}

/** Calls and stop sequences end with STOP: this vendor has no separate reason for them. */
function finishReason(plan: ReplyPlan): string {
  if (plan.stop === 'max-tokens') return 'MAX_TOKENS';
  return plan.stop === 'content-filter' ? 'SAFETY' : 'STOP';
}
