import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { RequestFeatures } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { collectText, collectToolNames, joinOpening } from '../conversation-opening.ts';
import { toSnakeCase } from './canonicalize-request.ts';

/** Reads a member in either spelling. Validation has refused a body with both. */
function pick(object: JsonObject, name: string): JsonValue | undefined {
  return object[name] ?? object[toSnakeCase(name)];
}

/** Returns the request, which may be inside a count. */
function requestOf({ body }: WireRequest): JsonObject {
  const inside = pick(body, 'generateContentRequest');
  return isJsonObject(inside) ? inside : body;
}

/** Reads which media and tools a request contains. */
export function readFeatures(wireRequest: WireRequest): RequestFeatures {
  const request = requestOf(wireRequest);
  const { contents, tools } = request;
  const config = pick(request, 'generationConfig');
  const modalities = isJsonObject(config) ? pick(config, 'responseModalities') : undefined;
  const isSpoken = Array.isArray(modalities) && modalities.some((modality) => modality === 'AUDIO');
  const found = { images: false, documents: false, audio: isSpoken };
  for (const content of listOf(contents)) if (isJsonObject(content)) readParts(content.parts, found);
  return { ...found, tools: Array.isArray(tools) && tools.length > 0 };
}

/** The vendor accepts a single value in place of a list. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [value];
  const list: readonly JsonValue[] = value;
  return list;
}

function readParts(parts: JsonValue | undefined, found: { images: boolean; documents: boolean; audio: boolean }): void {
  for (const part of listOf(parts)) {
    if (!isJsonObject(part)) continue;
    const media = pick(part, 'inlineData') ?? pick(part, 'fileData');
    if (isJsonObject(media)) readMedia(pick(media, 'mimeType'), found);
    const answer = pick(part, 'functionResponse');
    if (isJsonObject(answer)) readParts(answer.parts, found);
  }
}

/** A file without a type is one that the vendor fetches: a video. */
function readMedia(mimeType: JsonValue | undefined, found: { images: boolean; documents: boolean; audio: boolean }): void {
  const type = typeof mimeType === 'string' ? mimeType.toLowerCase() : 'video/*';
  if (type.startsWith('image/') || type.startsWith('video/')) found.images = true;
  else if (type.startsWith('audio/')) found.audio = true;
  else found.documents = true;
}

/** Finds the conversation of a call. The interface has no name for it, so its beginning identifies it. */
export function readConversation(wireRequest: WireRequest): string {
  const request = requestOf(wireRequest);
  const first = listOf(request.contents).find((content) => isJsonObject(content) && content.role !== 'model');
  const system = pick(request, 'systemInstruction');
  const names = listOf(request.tools).map((tool) =>
    collectToolNames(isJsonObject(tool) ? pick(tool, 'functionDeclarations') : undefined, nameOf),
  );
  return joinOpening(collectText(system), names.join(''), collectText(isJsonObject(first) ? first.parts : undefined));
}

function nameOf(declaration: JsonValue): JsonValue | undefined {
  return isJsonObject(declaration) ? declaration.name : undefined;
}
