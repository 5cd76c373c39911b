import { fitCallId } from '../../../inference/call-ids.ts';
import type { Citation } from '../../../inference/citation.ts';
import type { InferenceReply, ReplyPart } from '../../../inference/inference-reply.ts';
import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import { repairToolArguments } from '../../../inference/tool-arguments.ts';
import { siblingId } from '../../../platform/ids.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { encodeCitation } from './citations.ts';
import { callIdRules } from './encode-messages.ts';
import { encodeServiceTier, encodeUsage, type ToolUses } from './encode-usage.ts';
import { writeCallProof, writeSignature } from './proof-fields.ts';
import { encodeServerTool } from './write-server-tools.ts';
import { encodeEnding } from './stop-reasons.ts';

/** Writes a whole message, with the same content as the stream of the reply. */
export function encodeReply(reply: InferenceReply, writing: ReplyWriting): JsonObject {
  const has = (kind: ReplyPart['kind']): boolean => reply.parts.some((part) => part.kind === kind);
  return {
    ...encodeHead(reply, writing),
    content: reply.parts.flatMap((part) => encodePart(part, writing)),
    ...encodeEnding(reply, { toolCalls: has('tool-call'), refusals: has('refusal') }),
    usage: { ...encodeUsage(reply.usageReport?.usage ?? {}, countToolUses(reply.parts)), ...encodeServiceTier(reply.usageReport) },
  };
}

/** Counts the uses of the tools that `usage` counts. */
function countToolUses(parts: readonly ReplyPart[]): ToolUses {
  const uses = { webSearches: 0, pagesRead: 0 };
  for (const part of parts) if (part.kind === 'server-tool') addToolUses(uses, part);
  return uses;
}

/**
 * Adds the uses of a tool to `usage`: every search, and every page. Like at the vendor, failed uses are not charged and
 * do not count.
 */
export function addToolUses(uses: { webSearches: number; pagesRead: number }, { tool, input, failed, results = [] }: ServerToolPart): void {
  if (failed === true) return;
  const unread = results.filter(({ unreadable }) => unreadable === true).length;
  if (tool === 'web-search') uses.webSearches += 1;
  else if (tool === 'url-context') uses.pagesRead += Math.max(0, Math.max(1, input.length) - unread);
}

/**
 * Whether the client requested thoughts. A client that did not would read the first block as the answer, so it gets
 * none; the gateway stores the proofs of its tool turns.
 */
export function showsThoughts({ request }: ReplyWriting): boolean {
  const { thinking } = request;
  return isJsonObject(thinking) && thinking.type !== 'disabled';
}

/**
 * Writes the first members of a message. Ids of other vendors are replaced, because clients check this dialect's
 * prefix.
 */
export function encodeHead({ replyId, servedModel }: Pick<InferenceReply, 'replyId' | 'servedModel'>, writing: ReplyWriting): JsonObject {
  return {
    id: replyId?.startsWith('msg_') === true ? replyId : (siblingId(writing.requestId, 'msg') ?? writing.newId('msg')),
    type: 'message',
    role: 'assistant',
    model: servedModel ?? writing.requestedModel,
  };
}

function encodePart(part: ReplyPart, writing: ReplyWriting): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return encodeText(part.text, part.citations);
    case 'refusal':
      return encodeText(part.text, undefined);
    case 'reasoning':
      return showsThoughts(writing) ? encodeReasoning(part.text.join('\n\n'), part.proof) : [];
    case 'tool-call': {
      const id = callIdOf(part.id);
      const call = { type: 'tool_use', id, name: part.name, input: repairToolArguments(part.arguments) };
      return part.proof === undefined || !showsThoughts(writing) ? [call] : [carryCallProof(id, part.proof), call];
    }
    case 'server-tool':
    case 'media':
      return encodeWholePart(part, writing);
  }
}

function encodeText(text: string, citations: readonly Citation[] = []): readonly JsonObject[] {
  if (text === '' && citations.length === 0) return [];
  return [{ type: 'text', text, ...(citations.length === 0 ? {} : { citations: citations.map(encodeCitation) }) }];
}

function encodeReasoning(thinking: string, proof: Proof | undefined): readonly JsonObject[] {
  if (thinking === '' && proof === undefined) return [];
  if (thinking === '' && proof?.hidden === true) return [encodeHiddenReasoning(proof)];
  return [{ type: 'thinking', thinking, signature: writeSignature(proof) }];
}

export function encodeHiddenReasoning(proof: Proof): JsonObject {
  return { type: 'redacted_thinking', data: writeSignature(proof) };
}

/** The id of a call in the form of this dialect. Clients return it in a result. */
export function callIdOf(id: string): string {
  return fitCallId(id, callIdRules);
}

/** Writes the proof of a call as a thinking block without text before it, because a call has no field for it. */
export function carryCallProof(callId: string, proof: Proof): JsonObject {
  return { type: 'thinking', thinking: '', signature: writeCallProof(callId, proof) };
}

/** Writes parts that arrive whole. Parts for which this dialect's replies have no block are left out with a note. */
export function encodeWholePart(
  part: Extract<ReplyPart, { kind: 'server-tool' | 'media' }>,
  { notes }: ReplyWriting,
): readonly JsonObject[] {
  const blocks = part.kind === 'server-tool' ? encodeServerTool(part) : undefined;
  if (blocks === undefined) {
    const what = part.kind === 'media' ? `${part.media} made by the model` : 'the activity of a tool of the vendor';
    notes.adapted({ path: undefined, otherwise: 'turns' }, `a reply of this interface cannot contain ${what}; it was left out`);
  }
  return blocks ?? [];
}
