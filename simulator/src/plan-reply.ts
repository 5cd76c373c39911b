import { hash } from 'node:crypto';
import { aimArguments } from './aim-arguments.ts';
import { countTokens, cutToTokens, tokensOfLength, tokensPerMedia } from './count-tokens.ts';
import { answerFromTools, planToolCalls } from './play-tools.ts';
import type { PromptCache } from './prompt-cache.ts';
import { signReasoning } from './reasoning-signature.ts';
import { writeReasoningText, writeReplyText } from './reply-text.ts';
import { sampleSchema } from './sample-schema.ts';
import { createSeededRandom, deriveId, type SeededRandom } from './seeded-random.ts';
import type { JsonRecord, PlannedUsage, PlanReply, PlanRequest, ReplyPlan } from './simulated-vendor.ts';
import { readPromptSteering, type Steering } from './steering.ts';

export type PlannerOptions = {
  readonly seed: string;
  readonly nowMs?: number;
  /** The settings in the headers of the call. They win over a directive in the prompt. */
  readonly steering?: Steering;
  /** Absent: nothing is ever cached. */
  readonly cache?: PromptCache;
  readonly tokensPerFrame?: number;
  /**
   * The number of earlier identical calls, so that equal requests get different ids. Absent: equal requests get equal
   * ids.
   */
  readonly numberCall?: (fingerprint: string) => number;
  /**
   * Receives the plan, its control settings, and a function that keeps the change to the prompt cache once the call is
   * answered.
   */
  readonly onPlan?: (plan: ReplyPlan, steering: Steering, keepCache: () => void) => void;
};

type Draft = {
  reasoningText?: string;
  text?: string;
  refusal?: string;
  toolCalls: ReplyPlan['toolCalls'][number][];
  stop: ReplyPlan['stop'];
  stopSequence?: string;
};

/**
 * Plans replies. The same seed and request always give the same reply; ids also depend on the number of earlier
 * identical requests.
 */
export function createPlanner(options: PlannerOptions): PlanReply {
  return (request) => {
    const steering = goOn(request, { ...promptSteering(request), ...options.steering });
    const fingerprint = fingerprintRequest(steering.seed ?? options.seed, request);
    const random = createSeededRandom(fingerprint);
    const id = deriveId(`${fingerprint}/${options.numberCall?.(fingerprint) ?? 0}`);
    const draft = draftReply(request, steering, random, id, fingerprint);
    applyStopSequences(draft, request.stopSequences);
    if (request.outputTokensMax !== undefined) applyOutputLimit(draft, request.outputTokensMax);
    const input = countInput(request, options.cache, options.nowMs ?? 0);
    const plan: ReplyPlan = {
      id,
      createdAtSeconds: Math.floor((options.nowMs ?? 0) / 1000),
      ...(draft.reasoningText !== undefined && { reasoning: { text: draft.reasoningText, signature: signReasoning(draft.reasoningText) } }),
      ...(draft.text !== undefined && { text: draft.text }),
      ...(draft.refusal !== undefined && { refusal: draft.refusal }),
      toolCalls: draft.toolCalls,
      stop: draft.stop,
      ...(draft.stopSequence !== undefined && { stopSequence: draft.stopSequence }),
      usage: { ...input.usage, ...countOutput(draft, request.outputTokensMax) },
      tokensPerFrame: steering.pace?.tokensPerFrame ?? options.tokensPerFrame ?? 4,
      ...(steering.fault?.startsWith('unknown-block') === true && { unknownBlock: true }),
    };
    options.onPlan?.(plan, steering, input.keepCache);
    return plan;
  };
}

/**
 * Input tokens of a prompt, cached or not: text and tool definitions by the four-character rule, media at a fixed
 * number, at least 1.
 */
export function countPrompt(request: Pick<PlanRequest, 'promptText' | 'tools' | 'mediaCount'>): number {
  return Math.max(1, countTokens(request.promptText) + countTokens(describeTools(request)) + request.mediaCount * tokensPerMedia);
}

/** Tokens of one tool call: of its name and its arguments as compact JSON, concatenated. */
export function countToolCall(call: { readonly name: string; readonly arguments: JsonRecord }): number {
  return tokensOfLength(call.name.length + JSON.stringify(call.arguments).length);
}

/**
 * Requests of all kinds may quote a prompt: one that requires JSON gets JSON, whatever text the prompt requests, and
 * one that requires a call of other tools gets a call of these.
 */
function promptSteering(request: PlanRequest): Steering {
  const { text, toolName, toolArguments, ...steering } = readPromptSteering(request.lastUserText);
  const isOfAnother = toolName !== undefined && !offersTool(request, toolName) && request.toolChoice !== 'auto';
  return {
    ...steering,
    ...(text !== undefined && request.outputSchema === undefined && { text }),
    ...(toolName !== undefined && !isOfAnother && { toolName }),
    ...(toolArguments !== undefined && !isOfAnother && { toolArguments }),
  };
}

/** Text that was already sent is not repeated if another text is to follow it. */
function goOn({ promptText }: PlanRequest, steering: Steering): Steering {
  const { text, thenText } = steering;
  return text === undefined || thenText === undefined || !promptText.includes(text) ? steering : { ...steering, text: thenText };
}

function offersTool(request: PlanRequest, name: string): boolean {
  return request.tools.some((tool) => tool.name === name);
}

function fingerprintRequest(seed: string, request: PlanRequest): string {
  const choice = typeof request.toolChoice === 'string' ? request.toolChoice : `=${request.toolChoice.name}`;
  const tools = request.tools.map((tool) => tool.name).join(',');
  return hash('sha256', `${seed}\n${request.model}\n${choice}\n${tools}\n${request.stopSequences.join('\n')}\n${request.promptText}`);
}

function describeTools(request: Pick<PlanRequest, 'tools'>): string {
  if (request.tools.length === 0) return '';
  return request.tools.map((tool) => `${tool.name} ${JSON.stringify(tool.schema)}`).join('\n');
}

function draftReply(request: PlanRequest, steering: Steering, random: SeededRandom, id: string, fingerprint: string): Draft {
  const draft: Draft = { toolCalls: [], stop: 'end' };
  if (request.thinking !== undefined) draft.reasoningText = steering.reasoning ?? draftReasoning(request, random);
  if (steering.stop === 'refusal') {
    draft.refusal = `This is a simulated refusal from ${request.model}: it was asked to refuse.`;
    draft.stop = 'refusal';
    return draft;
  }
  const wanted = steering.toolName === undefined ? request : { ...request, toolChoice: { name: steering.toolName } };
  const played = isFree(steering) ? planToolCalls(request, (schema) => sampleSchema(schema, fingerprint)) : undefined;
  const calls =
    played?.map((call, index) => ({ ...call, id: deriveId(`${id}/call/${index}`) })) ??
    draftToolCalls(wanted, countToolCalls(request, steering, random), random, id, fingerprint);
  draft.toolCalls = calls.map((call) => (steering.toolArguments === undefined ? call : { ...call, arguments: steering.toolArguments }));
  if (draft.toolCalls.length > 0) {
    draft.stop = 'tool-use';
    if (steering.text !== undefined && steering.toolName === undefined) draft.text = steering.text;
    else if (steering.text === undefined && request.toolChoice === 'auto' && random.below(2) === 0) {
      draft.text = `This is a simulated reply from ${request.model}, which calls ${draft.toolCalls.map((call) => call.name).join(' and ')}. 😀`;
    }
    return draft;
  }
  draft.text = draftText(request, steering, random, fingerprint);
  if (steering.stop !== undefined && steering.stop !== 'tool-use') forceStop(draft, steering.stop, request.stopSequences);
  return draft;
}

/** Whether no setting determines the reply, so that the model does what the question asks. */
function isFree({ stop, text, outputTokens, toolCalls, toolName, toolArguments }: Steering): boolean {
  return [stop, text, outputTokens, toolCalls, toolName, toolArguments].every((wish) => wish === undefined);
}

function draftReasoning(request: PlanRequest, random: SeededRandom): string {
  const tokens = Math.min(request.thinking?.budgetTokens ?? Number.POSITIVE_INFINITY, 16 + random.below(32));
  return cutToTokens(writeReasoningText(request.lastUserText, tokens * 4, random), tokens);
}

function draftText(request: PlanRequest, steering: Steering, random: SeededRandom, fingerprint: string): string {
  if (steering.text !== undefined) return steering.text;
  if (request.outputSchema !== undefined) return draftJson(request, request.outputSchema, fingerprint);
  const found = isFree(steering) ? answerFromTools(request) : undefined;
  if (found !== undefined) return found;
  const tokens = steering.outputTokens ?? 24 + random.below(48);
  const text = writeReplyText(request.model, request.lastUserText, tokens * 4, random);
  return steering.outputTokens === undefined ? text : cutToTokens(text, steering.outputTokens);
}

function draftJson(request: PlanRequest, schema: JsonRecord, fingerprint: string): string {
  if (Object.keys(schema).length === 0)
    return JSON.stringify({ simulated: true, model: request.model, reply: 'This is a simulated reply. 世界' });
  return JSON.stringify(sampleSchema(schema, fingerprint));
}

function countToolCalls(request: PlanRequest, steering: Steering, random: SeededRandom): number {
  if (request.tools.length === 0) return 0;
  if (steering.toolName !== undefined) return offersTool(request, steering.toolName) && !request.answersToolResult ? 1 : 0;
  if (steering.toolCalls !== undefined) return steering.toolCalls;
  if (steering.stop !== undefined && steering.stop !== 'tool-use') return 0;
  const wanted = request.parallelToolCalls && random.below(3) === 0 ? 2 : 1;
  if (steering.stop === 'tool-use') return wanted;
  if (request.toolChoice === 'none') return 0;
  if (request.toolChoice !== 'auto') return wanted;
  const wantsText = steering.text !== undefined || steering.outputTokens !== undefined;
  return request.answersToolResult || wantsText ? 0 : wanted;
}

function draftToolCalls(request: PlanRequest, count: number, random: SeededRandom, id: string, fingerprint: string): Draft['toolCalls'] {
  const { toolChoice, tools } = request;
  const allowed = typeof toolChoice === 'string' ? tools : tools.filter((tool) => tool.name === toolChoice.name);
  if (allowed.length === 0) return [];
  const first = random.below(allowed.length);
  const calls: Draft['toolCalls'] = [];
  for (let index = 0; index < count; index++) {
    // Each further call names the next tool, or the same one if there is only one.
    const tool = allowed[(first + index) % allowed.length];
    if (tool === undefined) continue;
    const value = sampleSchema(tool.schema, `${fingerprint}/${index}`);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    calls.push({
      id: deriveId(`${id}/call/${index}`),
      name: tool.name,
      arguments: aimArguments(tool.name, isRecord ? value : {}, request.lastUserText),
    });
  }
  return calls;
}

function forceStop(draft: Draft, stop: ReplyPlan['stop'], stopSequences: readonly string[]): void {
  const sequence = stopSequences[0];
  // Without a stop sequence there is nothing to stop at.
  if (stop === 'stop-sequence' && sequence === undefined) return;
  draft.stop = stop;
  if (stop === 'stop-sequence' && sequence !== undefined) draft.stopSequence = sequence;
  if (stop === 'end' || stop === 'pause') return;
  const text = draft.text ?? '';
  draft.text = cutToTokens(text, Math.max(1, Math.floor(countTokens(text) / 2)));
}

function applyStopSequences(draft: Draft, stopSequences: readonly string[]): void {
  const text = draft.text;
  if (text === undefined) return;
  let cut = text.length + 1;
  for (const sequence of stopSequences) {
    const index = sequence === '' ? -1 : text.indexOf(sequence);
    if (index < 0 || index >= cut) continue;
    cut = index;
    draft.text = text.slice(0, index);
    draft.stop = 'stop-sequence';
    draft.stopSequence = sequence;
    draft.toolCalls = [];
  }
}

/**
 * Cuts the output beyond the limit, in the order of generation: reasoning, text or refusal, tool calls (dropped as a
 * whole).
 */
function applyOutputLimit(draft: Draft, outputTokensMax: number): void {
  let left = outputTokensMax;
  let isCut = false;
  const take = (text: string): string => {
    const kept = isCut ? '' : cutToTokens(text, left);
    isCut ||= kept.length < text.length;
    left -= countTokens(kept);
    return kept;
  };
  if (draft.reasoningText !== undefined) draft.reasoningText = take(draft.reasoningText);
  for (const member of ['text', 'refusal'] as const) {
    const value = draft[member];
    if (value === undefined) continue;
    const kept = take(value);
    if (kept === '' && value !== '') delete draft[member];
    else draft[member] = kept;
  }
  draft.toolCalls = draft.toolCalls.filter((call) => {
    const tokens = countToolCall(call);
    isCut ||= tokens > left;
    if (!isCut) left -= tokens;
    return !isCut;
  });
  if (!isCut) return;
  draft.stop = 'max-tokens';
  delete draft.stopSequence;
}

function countOutput(draft: Draft, outputTokensMax: number | undefined): Pick<PlannedUsage, 'outputTokens' | 'reasoningTokens'> {
  const reasoningTokens = countTokens(draft.reasoningText ?? '');
  let outputTokens = reasoningTokens + countTokens(draft.text ?? '') + countTokens(draft.refusal ?? '');
  for (const call of draft.toolCalls) outputTokens += countToolCall(call);
  // An empty reply still counts one token, as at the vendors, unless no token at all was permitted.
  if (outputTokens === 0 && outputTokensMax !== 0) outputTokens = 1;
  return { outputTokens, reasoningTokens };
}

type InputUsage = Omit<PlannedUsage, 'outputTokens' | 'reasoningTokens'>;

function countInput(request: PlanRequest, cache: PromptCache | undefined, nowMs: number): { usage: InputUsage; keepCache: () => void } {
  const total = countPrompt(request);
  const isMarked = request.cachedPrefixCharacters > 0 || request.cachedTools === true;
  if (cache === undefined || !isMarked) {
    const usage = { inputTokens: total, cacheReadTokens: 0, cacheWriteTokens: 0, cacheLifetime: request.cacheLifetime };
    return { usage, keepCache: () => undefined };
  }
  const { readTokens, writeTokens, keep } = cache.look({
    model: request.model,
    prefix: request.promptText.slice(0, request.cachedPrefixCharacters),
    // Tools precede all text in every vendor's order of caching.
    tools: describeTools(request),
    lifetime: request.cacheLifetime,
    nowMs,
  });
  const cacheWriteTokens = request.freeCacheWrites === true ? 0 : writeTokens;
  const inputTokens = Math.max(0, total - readTokens - cacheWriteTokens);
  return {
    usage: { inputTokens, cacheReadTokens: readTokens, cacheWriteTokens, cacheLifetime: request.cacheLifetime },
    keepCache: keep,
  };
}
