import { GatewayError } from '../../../inference/gateway-error.ts';
import type { MediaPart, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { decodeAnnotation } from './citations.ts';
import { decodeContent } from './decode-content.ts';
import { decodeReasoning, decodeThoughtSignature } from './reasoning-details.ts';

export type DecodedMessages = { readonly instructions: readonly TextPart[]; readonly turns: readonly Turn[] };

const isSystem = (message: JsonObject): boolean => message.role === 'system' || message.role === 'developer';

const isResult = (message: JsonObject): boolean => message.role === 'tool' || message.role === 'function';

function isText(part: Part): part is TextPart {
  return part.kind === 'text';
}

/**
 * Assigns ids to calls of the older `function_call`, which has none, and finds the call that a result answers. An id
 * contains the position of its call.
 */
type FunctionCalls = { readonly add: (at: number, name: string) => string; readonly answer: (at: number, name: string) => string };

function createFunctionCalls(): FunctionCalls {
  const open = new Map<string, { readonly ids: string[]; answered: number }>();
  return {
    add: (at, name) => {
      const id = `call_function_${at}`;
      const calls = open.get(name);
      if (calls === undefined) open.set(name, { ids: [id], answered: 0 });
      else calls.ids.push(id);
      return id;
    },
    answer: (at, name) => {
      const calls = open.get(name);
      const id = calls?.ids[calls.answered];
      if (calls !== undefined) calls.answered += 1;
      // A result without a call receives an id that no call has. How it is handled is decided elsewhere.
      return id ?? `call_function_${at}`;
    },
  };
}

/** Reads the conversation. Leading system text becomes instructions, and consecutive results become one turn. */
export function decodeMessages(messages: readonly JsonObject[]): DecodedMessages {
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  const functionCalls = createFunctionCalls();
  let results: ToolResultPart[] | undefined;
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    if (isResult(message)) {
      const result = decodeResult(message, path, functionCalls, at);
      if (results === undefined) turns.push({ role: 'user', parts: (results = [result]) });
      else results.push(result);
      continue;
    }
    results = undefined;
    const content = decodeContent(message.content, `${path}.content`);
    if (isSystem(message) && turns.length === 0) instructions.push(...content.filter(isText));
    else turns.push(decodeTurn(message, content, path, functionCalls, at));
  }
  return { instructions, turns };
}

function decodeTurn(message: JsonObject, content: readonly Part[], path: string, functionCalls: FunctionCalls, at: number): Turn {
  const name = filledText(message.name);
  const named = name === undefined ? {} : { name, namePath: `${path}.name` };
  if (isSystem(message)) return { role: 'system', parts: content, ...named };
  if (message.role !== 'assistant') return { role: 'user', parts: content, ...named };
  const refusal = filledText(message.refusal);
  const answer: Part[] = [
    ...withCitations(withProof(content, decodeThoughtSignature(message)), message.annotations),
    ...(refusal === undefined ? [] : [{ kind: 'refusal', text: refusal, path: `${path}.refusal` } as const]),
    ...decodeSpokenReply(message, content, path),
  ];
  const parts = [...decodeReasoning(message, path), ...answer, ...decodeCalls(message, path, functionCalls, at)];
  return { role: 'assistant', parts, ...named };
}

/** The proof of a message belongs to its last text. */
function withProof(content: readonly Part[], proof: TextPart['proof']): readonly Part[] {
  const last = proof === undefined ? -1 : content.findLastIndex(isText);
  return content.map((part, at) => (at === last && isText(part) && proof !== undefined ? { ...part, proof } : part));
}

/**
 * Adds the sources of an earlier reply that a client sends back. Their offsets count from the beginning of its text.
 */
function withCitations(content: readonly Part[], annotations: JsonValue | undefined): readonly Part[] {
  const citations = objectsOf(annotations).flatMap((annotation) => decodeAnnotation(annotation) ?? []);
  const [only, ...others] = content;
  if (citations.length === 0 || only === undefined || !isText(only) || others.some(isText)) return content;
  return [{ ...only, citations }, ...others];
}

/** A spoken reply is stored at its vendor. Its transcript can be sent anywhere. */
function decodeSpokenReply(message: JsonObject, content: readonly Part[], path: string): readonly Part[] {
  const audio = membersOf(message.audio);
  if (filledText(audio.id) === undefined) return [];
  const transcript = filledText(audio.transcript);
  if (transcript !== undefined) return [{ kind: 'text', text: transcript, path: `${path}.audio` }];
  if (content.some(isText)) return [];
  const reason =
    'a spoken reply is stored at the vendor that generated it, and the upstream of this model is another; send its transcript as content';
  throw new GatewayError('untranslatable_field', `${path}.audio: ${reason}`, { param: `${path}.audio` });
}

function decodeCalls(message: JsonObject, path: string, functionCalls: FunctionCalls, at: number): readonly Part[] {
  const calls = objectsOf(message.tool_calls).map((call, index) => decodeCall(call, `${path}.tool_calls[${index}]`));
  const legacy = membersOf(message.function_call);
  const name = filledText(legacy.name);
  if (name === undefined) return calls;
  const id = functionCalls.add(at, name);
  return [...calls, { kind: 'tool-call', id, name, arguments: argumentsOf(legacy.arguments), path: `${path}.function_call` }];
}

/** Clients that have arguments as an object sometimes send the object. */
const argumentsOf = (value: JsonValue | undefined): string =>
  textOf(value) ?? (value === undefined || value === null ? '' : JSON.stringify(value));

function decodeCall(call: JsonObject, path: string): Part {
  const { name, arguments: input } = membersOf(call.function);
  const called = filledText(name);
  // Calls of the vendor's custom tools, which accept free text, and of future kinds.
  if (called === undefined) return { kind: 'vendor', name: textOf(call.type) ?? 'call', wire: call, elsewhere: 'refuse', path };
  const proof = decodeThoughtSignature(call);
  const part: ToolCallPart = { kind: 'tool-call', id: textOf(call.id) ?? '', name: called, arguments: argumentsOf(input), path };
  return proof === undefined ? part : { ...part, proof };
}

function decodeResult(message: JsonObject, path: string, functionCalls: FunctionCalls, at: number): ToolResultPart {
  const name = filledText(message.name);
  const callId = message.role === 'function' ? functionCalls.answer(at, name ?? '') : (textOf(message.tool_call_id) ?? '');
  const content = decodeContent(message.content, `${path}.content`).map(resultContent);
  return { kind: 'tool-result', callId, content, isError: false, path, ...(name === undefined ? {} : { name }) };
}

function resultContent(part: Part): TextPart | MediaPart {
  if (part.kind === 'text' || part.kind === 'media') return part;
  const param = part.path ?? 'messages';
  throw new GatewayError('untranslatable_field', `${param}: a tool result for another vendor can only contain text and media`, {
    param,
  });
}
