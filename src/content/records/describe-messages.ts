import type { InferenceReply, StopReason } from '../../inference/inference-reply.ts';
import type { InferenceRequest, MediaPart, Part, Tool, Turn } from '../../inference/inference-request.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { markBase64, textWithoutBytes, withoutBytes } from './without-bytes.ts';

/**
 * Prompts and replies in the form of the conventions of telemetry for generative AI:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
 */
export type DescribedRequest = {
  readonly systemInstructions: readonly JsonObject[];
  readonly inputMessages: readonly JsonObject[];
  readonly toolDefinitions: readonly JsonObject[];
};

const textPart = (text: string): JsonObject => ({ type: 'text', content: textWithoutBytes(text) });

/** A message of a user with these texts. */
export function userMessage(texts: readonly string[]): JsonObject {
  return { role: 'user', parts: texts.map(textPart) };
}

export function describeRequest({ instructions, turns, tools }: InferenceRequest): DescribedRequest {
  return {
    systemInstructions: instructions.map(({ text }) => textPart(text)),
    inputMessages: turns.flatMap(describeTurn),
    toolDefinitions: tools.map(describeTool),
  };
}

/** Results of tools are messages of their own, with the role `tool`. */
function describeTurn({ role, parts, name }: Turn): readonly JsonObject[] {
  const results = parts.filter((part) => part.kind === 'tool-result');
  const others = parts.filter((part) => part.kind !== 'tool-result');
  const named = name === undefined ? {} : { name };
  return [
    ...(results.length === 0 ? [] : [{ role: 'tool', parts: results.map(describePart) }]),
    ...(others.length === 0 ? [] : [{ role, ...named, parts: others.map(describePart) }]),
  ];
}

function describePart(part: Part): JsonObject {
  switch (part.kind) {
    case 'text':
      return textPart(part.text);
    case 'refusal':
      return { type: 'refusal', content: part.text };
    case 'reasoning':
      return { type: 'reasoning', content: part.text.join('\n\n') };
    case 'tool-call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: readArguments(part.arguments) };
    case 'tool-result':
      return {
        type: 'tool_call_response',
        id: part.callId,
        response: part.content.map(describePart),
        ...(part.isError ? { is_error: true } : {}),
      };
    case 'server-tool':
      return {
        type: 'server_tool',
        id: part.id,
        name: part.tool,
        input: part.input.map(textWithoutBytes),
        results: (part.results ?? []).map(({ url, title, text }) => ({
          url,
          title,
          text: text === undefined ? undefined : textWithoutBytes(text),
        })),
      };
    case 'media':
      return describeMedia(part);
    case 'vendor':
      return { type: part.name, value: withoutBytes(part.wire) };
  }
}

/** Bytes are counted and hashed, and never recorded. */
function describeMedia({ media, source, filename }: MediaPart): JsonObject {
  const named = { modality: media === 'file' ? 'document' : media, ...(filename === undefined ? {} : { filename }) };
  switch (source.kind) {
    case 'inline':
      return { type: 'blob', ...named, mime_type: source.mediaType, ...markBase64(source.data) };
    case 'url':
      return { type: 'uri', ...named, uri: textWithoutBytes(source.url) };
    case 'text':
      return { type: 'text', ...named, content: textWithoutBytes(source.text) };
    case 'vendor-file':
      return { type: 'file', ...named, file_id: source.id };
  }
}

function describeTool(tool: Tool): JsonObject {
  if (tool.kind !== 'function') return { type: tool.kind };
  const { name, description, parameters } = tool;
  return { type: 'function', name, description, parameters };
}

/** Arguments as a value, or as text if they are not JSON. */
function readArguments(text: string): JsonValue {
  if (text === '') return {};
  try {
    return withoutBytes(parseJson(text));
  } catch {
    return textWithoutBytes(text);
  }
}

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_call',
  'output-limit': 'length',
  'context-limit': 'length',
  refusal: 'content_filter',
  pause: 'pause',
  failed: 'error',
};

/** The reply as one message, and why it ended. */
export function describeReply({ parts, stopReason }: InferenceReply): JsonObject {
  return { role: 'assistant', parts: parts.map(describePart), finish_reason: finishReasons[stopReason] };
}
