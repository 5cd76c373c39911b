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

type ItemWords = {
  /** The client's tools by the names under which the neutral form carries them. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly shown: Include;
  readonly newId: (prefix: string) => string;
  /** The container in which all code of the reply runs. */
  readonly containerId: () => string;
};

/** What the client's request says of how output items shall look. */
export function readItemWords({ request, newId }: ReplyWriting): ItemWords {
  let container: string | undefined;
  return {
    clientTools: readClientTools(request.tools),
    shown: readShown(request),
    newId,
    containerId: () => (container ??= newId('cntr')),
  };
}

export type { ItemWords };

/** A message, as far as it has come. */
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

/** The item that carries the proof of a call. */
export function writeCallProofItem(proof: Proof, callId: string, words: ItemWords): JsonObject {
  return { id: words.newId(ownReasoningPrefix), type: 'reasoning', summary: [], encrypted_content: writeCallProof(proof, callId) };
}

type CallStart = Extract<BlockStart, { kind: 'tool-call' }>;

/** A call that has begun, as the client knows its tool. */
export type BegunCall = {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly kind: ClientTool['kind'];
  readonly namespace?: string;
  /** The vendor's own item of it, where it has one. */
  readonly wire?: JsonObject;
};

const callPrefixes = { function: 'fc', custom: 'ctc', screen: 'cu' } as const;

export function beginCall({ id: callId, name, wire }: CallStart, words: ItemWords): BegunCall {
  const tool = words.clientTools.get(name);
  const kind = tool?.kind ?? 'function';
  return {
    id: words.newId(callPrefixes[kind]),
    callId,
    name: tool?.name ?? name,
    kind,
    ...(wire?.type === 'computer_call' ? { wire } : {}),
    ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
}

/** The item of a call with its arguments so far: JSON text, or the bare input of a custom tool. */
export function writeCallItem(call: BegunCall, status: 'in_progress' | 'completed' | 'incomplete', text: string): JsonObject {
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
 * What is done to the screen. While nothing is known of it, and where this dialect has no word for it, the model is shown the screen: that
 * does nothing, and it sees what has become of it.
 */
function writeScreenUse(text: string, wire: JsonObject | undefined): JsonObject {
  const action = isJsonObject(wire?.action) ? wire.action : encodeAction(parseJsonObject(text) ?? {});
  return { action: action ?? { type: 'screenshot' }, pending_safety_checks: objectsOf(wire?.pending_safety_checks) };
}

/** A call's arguments as its item says them. No arguments are an empty object. */
export function wordArguments(call: BegunCall, text: string): string {
  if (call.kind === 'custom') return unwrapCustomInput(text);
  return text.trim() === '' ? '{}' : text;
}

/** The item of a picture that the model drew; undefined for other media, for which the interface has none. */
export function writeImageItem({ media, source }: MediaPart, words: ItemWords): JsonObject | undefined {
  if (media !== 'image' || source.kind !== 'inline') return undefined;
  return {
    id: words.newId('ig'),
    type: 'image_generation_call',
    status: 'completed',
    output_format: source.mediaType.replace(/^image\//, ''),
    result: source.data,
  };
}

/** An item that came whole as it stands when it begins: what is found out later is not there yet. */
export function beginWholeItem({ id, type, code, container_id: containerId }: JsonObject): JsonObject {
  const begun = { id, type, status: 'in_progress' };
  if (type === 'image_generation_call') return { ...begun, result: null };
  return code === undefined ? begun : { ...begun, code: '', container_id: containerId ?? null, outputs: null };
}

const workingWords: Readonly<Record<string, string>> = {
  web_search_call: 'searching',
  file_search_call: 'searching',
  image_generation_call: 'generating',
};

/** The events between the beginning and the end of a whole item: their names and their further members as JSON text. */
export function wordSteps(item: JsonObject): readonly (readonly [step: string, members: string])[] {
  const kind = textOf(item.type) ?? '';
  const ended: readonly (readonly [string, string])[] =
    item.status === 'failed' || item.status === 'incomplete' ? [] : [[`${kind}.completed`, '']];
  const working = workingWords[kind];
  if (working !== undefined) return [[`${kind}.in_progress`, ''], [`${kind}.${working}`, ''], ...ended];
  if (kind !== 'code_interpreter_call') return [[`${kind}.in_progress`, ''], ...ended];
  const code = JSON.stringify(item.code ?? '');
  const written = [
    [`${kind}_code.delta`, `,"delta":${code}`],
    [`${kind}_code.done`, `,"code":${code}`],
  ] as const;
  return [[`${kind}.in_progress`, ''], ...written, [`${kind}.interpreting`, ''], ...ended];
}
