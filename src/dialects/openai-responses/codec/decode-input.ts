import { GatewayError } from '../../../inference/gateway-error.ts';
import type { MediaPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { readItemProof } from './call-proofs.ts';
import { joinNamespace, wrapCustomInput } from './client-tools.ts';
import { decodeContent, decodeContentPart } from './decode-content.ts';
import { decodeScreenCall, decodeScreenResult } from './screen-tool.ts';
import { decodeGeneratedImage, decodeServerTool } from './decode-server-tool.ts';

type DecodedInput = { readonly instructions: readonly TextPart[]; readonly turns: readonly Turn[] };

/** The parts that an item adds to the conversation, and the adjacent items that belong to the same turn. */
type Contribution = { readonly role: Turn['role']; readonly parts: readonly Part[]; readonly joins: 'assistant' | 'results' | 'nothing' };

const joinable = { assistant: 'assistant', results: 'results', nothing: undefined } as const;

function decodeMessage(item: JsonObject, path: string): Contribution {
  const parts = decodeContent(item.content, typeof item.content === 'string' ? path : `${path}.content`);
  switch (textOf(item.role) ?? '') {
    case 'assistant':
      return { role: 'assistant', parts, joins: 'assistant' };
    case 'system':
    case 'developer':
      return { role: 'system', parts, joins: 'nothing' };
    default:
      return { role: 'user', parts, joins: 'nothing' };
  }
}

function decodeCall(item: JsonObject, path: string, proofs: ReadonlyMap<string, Proof>): ToolCallPart {
  const id = textOf(item.call_id) ?? textOf(item.id) ?? '';
  const proof = proofs.get(id);
  return {
    kind: 'tool-call',
    id,
    name: joinNamespace(textOf(item.namespace), textOf(item.name) ?? ''),
    arguments: item.type === 'custom_tool_call' ? wrapCustomInput(textOf(item.input) ?? '') : (textOf(item.arguments) ?? ''),
    path,
    ...(proof === undefined ? {} : { proof }),
    ...(item.type === 'custom_tool_call' ? { wire: item } : {}),
  };
}

function isResultContent(part: Part): part is TextPart | MediaPart {
  return part.kind === 'text' || part.kind === 'media';
}

function decodeResult(item: JsonObject, path: string): ToolResultPart {
  const content = decodeContent(item.output, typeof item.output === 'string' ? path : `${path}.output`).map((part) => {
    if (isResultContent(part)) return part;
    throw refuseItem(
      part.path ?? path,
      `content of type '${part.kind}' in a tool result is not supported by other interfaces; send text or images`,
    );
  });
  const wire = item.type === 'function_call_output' ? {} : { wire: item };
  return { kind: 'tool-result', callId: textOf(item.call_id) ?? '', content, isError: false, path, ...wire };
}

function decodeReasoning(item: JsonObject, path: string): readonly ReasoningPart[] {
  const read = typeof item.encrypted_content === 'string' ? readItemProof(item.encrypted_content) : undefined;
  const shown = objectsOf(item.summary).length > 0 ? item.summary : item.content;
  const text = objectsOf(shown).flatMap((part) => textOf(part.text) ?? []);
  // The proof of a call is not reasoning.
  if (read?.callId !== undefined || (text.length === 0 && read === undefined)) return [];
  const itemId = textOf(item.id);
  return [
    { kind: 'reasoning', text, path, ...(read === undefined ? {} : { proof: read.proof }), ...(itemId === undefined ? {} : { itemId }) },
  ];
}

function refuseItem(path: string, reason: string): GatewayError {
  return new GatewayError('untranslatable_field', `${path}: ${reason}.`, { param: path });
}

const assistantParts = (parts: readonly Part[]): Contribution => ({ role: 'assistant', parts, joins: 'assistant' });

/** Items of tools that only this vendor has. Their results belong to the user's turn. */
function decodeOtherItem(item: JsonObject, type: string, path: string): Contribution {
  const activity = decodeServerTool(item) ?? decodeGeneratedImage(item);
  if (activity !== undefined) return assistantParts([{ ...activity, path }]);
  // An image that was never generated has no content.
  const elsewhere = type === 'image_generation_call' ? 'drop' : 'refuse';
  const part: Part = { kind: 'vendor', name: type, wire: item, elsewhere, path };
  return /_(?:output|response)$/.test(type) ? { role: 'user', parts: [part], joins: 'results' } : assistantParts([part]);
}

function decodeItem(item: JsonObject, path: string, proofs: ReadonlyMap<string, Proof>): Contribution {
  const type = textOf(item.type) ?? (item.role === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message':
      return decodeMessage(item, path);
    case 'function_call':
    case 'custom_tool_call':
      return assistantParts([decodeCall(item, path, proofs)]);
    case 'computer_call':
      return assistantParts([{ kind: 'tool-call', ...decodeScreenCall(item), path }]);
    case 'computer_call_output':
      return { role: 'user', parts: [decodeScreenResult(item, path)], joins: 'results' };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [decodeResult(item, path)], joins: 'results' };
    case 'reasoning':
      return assistantParts(decodeReasoning(item, path));
    case 'item_reference':
      throw refuseItem(path, 'the referenced item is not stored by this gateway; send the item itself');
    case 'input_text':
    case 'input_image':
    case 'input_file':
    case 'input_audio':
      return { role: 'user', parts: [decodeContentPart(item, path)], joins: 'nothing' };
    default:
      return decodeOtherItem(item, type, path);
  }
}

/** Proofs of calls, which are in reasoning items of their own, by the id of the call. */
function collectCallProofs(items: readonly JsonObject[]): ReadonlyMap<string, Proof> {
  const proofs = new Map<string, Proof>();
  for (const item of items) {
    const read =
      item.type === 'reasoning' && typeof item.encrypted_content === 'string' ? readItemProof(item.encrypted_content) : undefined;
    if (read?.callId !== undefined) proofs.set(read.callId, read.proof);
  }
  return proofs;
}

/**
 * Reads the input. Leading system text becomes instructions. Several items of the model (reasoning, a message, calls)
 * become one turn, and so do the results of its calls.
 *
 * @throws GatewayError untranslatable_field for references to items that the vendor stores
 */
export function decodeInput(input: JsonValue | undefined): DecodedInput {
  if (typeof input === 'string')
    return { instructions: [], turns: [{ role: 'user', parts: [{ kind: 'text', text: input, path: 'input' }] }] };
  if (!Array.isArray(input)) return { instructions: [], turns: [] };
  const items: readonly JsonObject[] = input.filter(isJsonObject);
  const proofs = collectCallProofs(items);
  const instructions: TextPart[] = [];
  const turns: { role: Turn['role']; parts: Part[] }[] = [];
  let open: 'assistant' | 'results' | undefined;
  for (const [index, item] of items.entries()) {
    const contribution = decodeItem(item, `input[${index}]`, proofs);
    const leads = contribution.role === 'system' && turns.length === 0 && contribution.parts.every((part) => part.kind === 'text');
    const last = turns.at(-1);
    if (leads) instructions.push(...contribution.parts.filter((part): part is TextPart => part.kind === 'text'));
    else if (last !== undefined && open !== undefined && contribution.joins === open) last.parts.push(...contribution.parts);
    else if (contribution.parts.length > 0) {
      turns.push({ role: contribution.role, parts: [...contribution.parts] });
      open = joinable[contribution.joins];
    }
  }
  return { instructions, turns };
}
