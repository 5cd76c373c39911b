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

/** What an item adds to the conversation, and what it may be joined with: neighbours that were one turn when they were said. */
type Said = { readonly role: Turn['role']; readonly parts: readonly Part[]; readonly joins: 'assistant' | 'results' | 'nothing' };

const joinable = { assistant: 'assistant', results: 'results', nothing: undefined } as const;

function decodeMessage(item: JsonObject, path: string): Said {
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
      `content of type '${part.kind}' in a tool's result is known to no other interface; send text or images`,
    );
  });
  const wire = item.type === 'function_call_output' ? {} : { wire: item };
  return { kind: 'tool-result', callId: textOf(item.call_id) ?? '', content, isError: false, path, ...wire };
}

function decodeReasoning(item: JsonObject, path: string): readonly ReasoningPart[] {
  const found = typeof item.encrypted_content === 'string' ? readItemProof(item.encrypted_content) : undefined;
  const shown = objectsOf(item.summary).length > 0 ? item.summary : item.content;
  const text = objectsOf(shown).flatMap((part) => textOf(part.text) ?? []);
  // What proves a call says nothing by itself.
  if (found?.callId !== undefined || (text.length === 0 && found === undefined)) return [];
  const itemId = textOf(item.id);
  return [
    { kind: 'reasoning', text, path, ...(found === undefined ? {} : { proof: found.proof }), ...(itemId === undefined ? {} : { itemId }) },
  ];
}

function refuseItem(path: string, reason: string): GatewayError {
  return new GatewayError('untranslatable_field', `${path}: ${reason}.`, { param: path });
}

const assistantSays = (parts: readonly Part[]): Said => ({ role: 'assistant', parts, joins: 'assistant' });

/** Items of tools that only this vendor knows. Results of them are said by the user. */
function decodeOtherItem(item: JsonObject, type: string, path: string): Said {
  const activity = decodeServerTool(item) ?? decodeGeneratedImage(item);
  if (activity !== undefined) return assistantSays([{ ...activity, path }]);
  // A picture that was never made says nothing.
  const elsewhere = type === 'image_generation_call' ? 'drop' : 'refuse';
  const part: Part = { kind: 'vendor', name: type, wire: item, elsewhere, path };
  return /_(?:output|response)$/.test(type) ? { role: 'user', parts: [part], joins: 'results' } : assistantSays([part]);
}

function decodeItem(item: JsonObject, path: string, proofs: ReadonlyMap<string, Proof>): Said {
  const type = textOf(item.type) ?? (item.role === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message':
      return decodeMessage(item, path);
    case 'function_call':
    case 'custom_tool_call':
      return assistantSays([decodeCall(item, path, proofs)]);
    case 'computer_call':
      return assistantSays([{ kind: 'tool-call', ...decodeScreenCall(item), path }]);
    case 'computer_call_output':
      return { role: 'user', parts: [decodeScreenResult(item, path)], joins: 'results' };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [decodeResult(item, path)], joins: 'results' };
    case 'reasoning':
      return assistantSays(decodeReasoning(item, path));
    case 'item_reference':
      throw refuseItem(path, 'the item that is referred to is not known here; send the item itself');
    case 'input_text':
    case 'input_image':
    case 'input_file':
    case 'input_audio':
      return { role: 'user', parts: [decodeContentPart(item, path)], joins: 'nothing' };
    default:
      return decodeOtherItem(item, type, path);
  }
}

/** Proofs of calls that came back in reasoning items of their own, by the id of the call. */
function collectCallProofs(items: readonly JsonObject[]): ReadonlyMap<string, Proof> {
  const proofs = new Map<string, Proof>();
  for (const item of items) {
    const found =
      item.type === 'reasoning' && typeof item.encrypted_content === 'string' ? readItemProof(item.encrypted_content) : undefined;
    if (found?.callId !== undefined) proofs.set(found.callId, found.proof);
  }
  return proofs;
}

/**
 * Reads the input: system text that leads it becomes instructions; what the model said in several items (reasoning, a message, calls)
 * becomes one turn, and so do the results of its calls.
 *
 * @throws GatewayError untranslatable_field for references to items that the vendor keeps
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
    const said = decodeItem(item, `input[${index}]`, proofs);
    const leads = said.role === 'system' && turns.length === 0 && said.parts.every((part) => part.kind === 'text');
    const last = turns.at(-1);
    if (leads) instructions.push(...said.parts.filter((part): part is TextPart => part.kind === 'text'));
    else if (last !== undefined && open !== undefined && said.joins === open) last.parts.push(...said.parts);
    else if (said.parts.length > 0) {
      turns.push({ role: said.role, parts: [...said.parts] });
      open = joinable[said.joins];
    }
  }
  return { instructions, turns };
}
