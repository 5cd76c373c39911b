import type { MediaPart } from '../../../inference/inference-request.ts';
import { writeProof, type Proof } from '../../../inference/proof.ts';
import type { BlockStart } from '../../../inference/inference-event.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { type Include, ownReasoningPrefix, readShown } from '../show-item.ts';
import { writeCallProof } from './call-proofs.ts';
import { type ClientTool, readClientTools, unwrapCustomInput } from './client-tools.ts';
import { encodeAction } from './screen-actions.ts';
import { vendorOrigin } from './vendor-origin.ts';

type ItemOptions = {
  /** The client's tools by the names that the neutral form has for them. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly shown: Include;
  readonly newId: (prefix: string) => string;
  /** The container in which all code of the reply runs. */
  readonly containerId: () => string;
};

/** Reads from the client's request how output items are written. */
export function readItemOptions({ request, newId }: ReplyWriting): ItemOptions {
  let container: string | undefined;
  return {
    clientTools: readClientTools(request.tools),
    shown: readShown(request),
    newId,
    containerId: () => (container ??= newId('cntr')),
  };
}

export type { ItemOptions };

/** A message with its content so far. */
export function writeMessageItem(
  { id, content }: { readonly id: string; readonly content: readonly JsonObject[] },
  status: 'in_progress' | 'completed' | 'incomplete',
): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

/** A finished reasoning item. */
export function writeReasoningItem(id: string, paragraphs: readonly string[], proof: Proof | undefined): JsonObject {
  const summary = paragraphs.map((text) => ({ type: 'summary_text', text }));
  return { id, type: 'reasoning', summary, ...(proof === undefined ? {} : { encrypted_content: writeProof(proof, vendorOrigin) }) };
}

/** A call has no field for a proof, so a reasoning item behind the call has it. */
export function writeCallProofItem(proof: Proof, callId: string, options: ItemOptions): JsonObject {
  return { id: options.newId(ownReasoningPrefix), type: 'reasoning', summary: [], encrypted_content: writeCallProof(proof, callId) };
}

type CallStart = Extract<BlockStart, { kind: 'tool-call' }>;

/** An open call, with the client's names. */
export type OpenToolCall = {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly kind: ClientTool['kind'];
  readonly namespace?: string;
  /** The vendor's own item for it, if there is one. */
  readonly wire?: JsonObject;
};

const callPrefixes = { function: 'fc', custom: 'ctc', screen: 'cu' } as const;

export function openToolCall({ id: callId, name, wire }: CallStart, options: ItemOptions): OpenToolCall {
  const tool = options.clientTools.get(name);
  const kind = tool?.kind ?? 'function';
  return {
    id: options.newId(callPrefixes[kind]),
    callId,
    name: tool?.name ?? name,
    kind,
    ...(wire?.type === 'computer_call' ? { wire } : {}),
    ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
}

/** The item of a call with its arguments so far: JSON text, or the bare input of a custom tool. */
export function writeCallItem(call: OpenToolCall, status: 'in_progress' | 'completed' | 'incomplete', text: string): JsonObject {
  const { id, callId, name, kind, namespace, wire } = call;
  if (kind === 'screen') return { id, type: 'computer_call', status, call_id: callId, ...writeScreenUse(text, wire) };
  return {
    id,
    type: kind === 'custom' ? 'custom_tool_call' : 'function_call',
    status,
    ...(kind === 'custom' ? { input: text } : { arguments: text }),
    call_id: callId,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/**
 * A screen action. While it is unknown, and if this dialect has no equivalent, it is a screenshot: that changes
 * nothing, and shows the model the current state.
 */
function writeScreenUse(text: string, wire: JsonObject | undefined): JsonObject {
  const action = isJsonObject(wire?.action) ? wire.action : encodeAction(parseJsonObject(text) ?? {});
  return { action: action ?? { type: 'screenshot' }, pending_safety_checks: objectsOf(wire?.pending_safety_checks) };
}

/** A call's arguments in its item. Absent arguments are an empty object. */
export function wordArguments(call: OpenToolCall, text: string): string {
  if (call.kind === 'custom') return unwrapCustomInput(text);
  return text.trim() === '' ? '{}' : text;
}

/** The item of an image that the model generated. Undefined for other media, for which the interface has no item. */
export function writeImageItem({ media, source }: MediaPart, options: ItemOptions): JsonObject | undefined {
  if (media !== 'image' || source.kind !== 'inline') return undefined;
  return {
    id: options.newId('ig'),
    type: 'image_generation_call',
    status: 'completed',
    output_format: source.mediaType.replace(/^image\//, ''),
    result: source.data,
  };
}

/** The opening form of an item that is already complete: its result is not in it yet. */
export function beginWholeItem({ id, type, code, container_id: containerId }: JsonObject): JsonObject {
  const head = { id, type, status: 'in_progress' };
  if (type === 'image_generation_call') return { ...head, result: null };
  return code === undefined ? head : { ...head, code: '', container_id: containerId ?? null, outputs: null };
}

const workingSteps: Readonly<Record<string, string>> = {
  web_search_call: 'searching',
  file_search_call: 'searching',
  image_generation_call: 'generating',
};

/** The events between the beginning and the end of a complete item: their names and their members as JSON text. */
export function wordSteps(item: JsonObject): readonly (readonly [step: string, members: string])[] {
  const kind = textOf(item.type) ?? '';
  const ended: readonly (readonly [string, string])[] =
    item.status === 'failed' || item.status === 'incomplete' ? [] : [[`${kind}.completed`, '']];
  const working = workingSteps[kind];
  if (working !== undefined) return [[`${kind}.in_progress`, ''], [`${kind}.${working}`, ''], ...ended];
  if (kind !== 'code_interpreter_call') return [[`${kind}.in_progress`, ''], ...ended];
  const code = JSON.stringify(item.code ?? '');
  const written = [
    [`${kind}_code.delta`, `,"delta":${code}`],
    [`${kind}_code.done`, `,"code":${code}`],
  ] as const;
  return [[`${kind}.in_progress`, ''], ...written, [`${kind}.interpreting`, ''], ...ended];
}
