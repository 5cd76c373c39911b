import type { MediaPart, ServerToolPart } from '../../../inference/inference-request.ts';
import { writeProof, type Proof } from '../../../inference/proof.ts';
import { textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { writeCallProof } from './call-proofs.ts';
import { type ClientTool, readClientTools, unwrapCustomInput } from './client-tools.ts';
import { vendorOrigin } from './vendor-origin.ts';

/** The beginning of the ids of reasoning items made here. The vendor never stored them, so `removeForeignProofs` must know them. */
export const ownReasoningPrefix = 'rs_gw';

type ItemWords = {
  /** The client's tools by the names under which the neutral form carries them. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly wantsProofs: boolean;
  readonly wantsSources: boolean;
  readonly wantsOutputs: boolean;
  readonly newId: (prefix: string) => string;
};

/**
 * What the client's request says of how output items shall look. Proofs are for clients that ask for them or keep the history themselves.
 */
export function readItemWords({ request, newId }: ReplyWriting): ItemWords {
  const include = textsOf(request.include);
  return {
    clientTools: readClientTools(request.tools),
    wantsProofs: request.store === false || include.includes('reasoning.encrypted_content'),
    wantsSources: include.includes('web_search_call.action.sources'),
    wantsOutputs: include.includes('code_interpreter_call.outputs'),
    newId,
  };
}

export type { ItemWords };

/** A finished reasoning item. */
export function writeReasoningItem(id: string, paragraphs: readonly string[], proof: Proof | undefined): JsonObject {
  const summary = paragraphs.map((text) => ({ type: 'summary_text', text }));
  return { id, type: 'reasoning', summary, ...(proof === undefined ? {} : { encrypted_content: writeProof(proof, vendorOrigin) }) };
}

/** The item that carries the proof of a call. */
export function writeCallProofItem(proof: Proof, callId: string, words: ItemWords): JsonObject {
  return { id: words.newId(ownReasoningPrefix), type: 'reasoning', summary: [], encrypted_content: writeCallProof(proof, callId) };
}

/** A call that has begun, as the client knows its tool. */
export type BegunCall = {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly custom: boolean;
  readonly namespace?: string;
};

export function beginCall(callId: string, name: string, words: ItemWords): BegunCall {
  const tool = words.clientTools.get(name);
  const custom = tool?.kind === 'custom';
  return {
    id: words.newId(custom ? 'ctc' : 'fc'),
    callId,
    name: tool?.name ?? name,
    custom,
    ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
}

/** The item of a call with its arguments so far: JSON text, or the bare input of a custom tool. */
export function writeCallItem(call: BegunCall, status: 'in_progress' | 'completed' | 'incomplete', text: string): JsonObject {
  const { id, callId, name, custom, namespace } = call;
  return {
    id,
    type: custom ? 'custom_tool_call' : 'function_call',
    status,
    ...(custom ? { input: text } : { arguments: text }),
    call_id: callId,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** A call's arguments as its item says them. No arguments are an empty object. */
export function wordArguments(call: BegunCall, text: string): string {
  if (call.custom) return unwrapCustomInput(text);
  return text.trim() === '' ? '{}' : text;
}

function writeWebSearch(part: ServerToolPart, words: ItemWords): JsonObject {
  const [query = ''] = part.input;
  const sources = (part.results ?? []).flatMap(({ url }) => (url === undefined ? [] : [{ type: 'url', url }]));
  return {
    id: words.newId('ws'),
    type: 'web_search_call',
    status: part.failed === true ? 'failed' : 'completed',
    action: { type: 'search', query, queries: part.input, ...(words.wantsSources ? { sources } : {}) },
  };
}

function writeCodeRun(part: ServerToolPart, words: ItemWords): JsonObject {
  const logs = (part.results ?? []).flatMap(({ text }) => (text === undefined ? [] : [{ type: 'logs', logs: text }]));
  return {
    id: words.newId('ci'),
    type: 'code_interpreter_call',
    status: part.failed === true ? 'failed' : 'completed',
    code: part.input.join('\n'),
    container_id: words.newId('cntr'),
    outputs: words.wantsOutputs ? logs : null,
  };
}

/** The item of what the vendor's tool did or the model drew; undefined where the interface has none for it. */
export function writeWholeItem(part: ServerToolPart | MediaPart, words: ItemWords): JsonObject | undefined {
  if (part.kind === 'server-tool') {
    if (part.tool === 'web-search') return writeWebSearch(part, words);
    return part.tool === 'code-execution' ? writeCodeRun(part, words) : undefined;
  }
  if (part.media !== 'image' || part.source.kind !== 'inline') return undefined;
  const { mediaType, data } = part.source;
  return {
    id: words.newId('ig'),
    type: 'image_generation_call',
    status: 'completed',
    output_format: mediaType.replace(/^image\//, ''),
    result: data,
  };
}

/** The item as it stands when it begins: what is found out later is not there yet. */
export function beginWholeItem({ id, type, code, container_id: containerId }: JsonObject): JsonObject {
  const begun = { id, type, status: 'in_progress' };
  if (type === 'image_generation_call') return { ...begun, result: null };
  return code === undefined ? begun : { ...begun, code: '', container_id: containerId, outputs: null };
}

/** The events between the beginning and the end of a whole item: their names and their further members as JSON text. */
export function wordSteps(item: JsonObject): readonly (readonly [step: string, members: string])[] {
  const kind = textOf(item.type) ?? '';
  const ended: readonly (readonly [string, string])[] = item.status === 'failed' ? [] : [[`${kind}.completed`, '']];
  switch (kind) {
    case 'web_search_call':
      return [[`${kind}.in_progress`, ''], [`${kind}.searching`, ''], ...ended];
    case 'image_generation_call':
      return [[`${kind}.in_progress`, ''], [`${kind}.generating`, ''], ...ended];
    default: {
      const code = JSON.stringify(item.code ?? '');
      const written = [
        [`${kind}_code.delta`, `,"delta":${code}`],
        [`${kind}_code.done`, `,"code":${code}`],
      ] as const;
      return [[`${kind}.in_progress`, ''], ...written, [`${kind}.interpreting`, ''], ...ended];
    }
  }
}
