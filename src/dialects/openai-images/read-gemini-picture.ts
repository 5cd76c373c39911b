import type { ImageReply, ImageRequest, GeneratedImage } from '../../inference/image.ts';
import { filledText, itemsOf, membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { decodeGeminiUsage } from '../decode-gemini-usage.ts';
import { countPictures } from './image-usage.ts';

/** Endings of a candidate that is whole: all others say why a picture is missing. */
const usualEndings: ReadonlySet<string> = new Set(['STOP', 'MAX_TOKENS', 'FINISH_REASON_UNSPECIFIED']);

/** Reads a reply of generate-content for its pictures. Undefined for what is none. */
export function readGeminiPicture(body: JsonObject, request: Pick<ImageRequest, 'sources'>): ImageReply | undefined {
  const blockReason = filledText(membersOf(body['promptFeedback'])['blockReason']);
  if (!Array.isArray(body['candidates']) && blockReason === undefined) return undefined;
  const candidates = objectsOf(body['candidates']);
  const images = candidates.flatMap((candidate) => objectsOf(membersOf(candidate['content'])['parts']).flatMap(readPart));
  const servedModel = filledText(body['modelVersion']);
  return {
    images,
    settings: {},
    usage: decodeGeminiUsage(body['usageMetadata'], true) ?? countPictures(images.length, request.sources.length, undefined),
    withheld: [...(blockReason === undefined ? [] : [blockReason]), ...candidates.flatMap(readReason)],
    ...(servedModel !== undefined && { servedModel }),
  };
}

/** A picture among the parts. Those that the model thought with are not its answer. */
function readPart(part: JsonObject): readonly GeneratedImage[] {
  const { mimeType, data } = membersOf(part['inlineData']);
  const bytes = filledText(data);
  const mediaType = filledText(mimeType);
  if (part['thought'] === true || bytes === undefined || mediaType?.startsWith('image/') !== true) return [];
  return [{ content: { kind: 'inline', mediaType, data: bytes } }];
}

function readReason(candidate: JsonObject): readonly string[] {
  const reason = filledText(candidate['finishReason']);
  if (reason !== undefined && !usualEndings.has(reason)) return [filledText(candidate['finishMessage']) ?? reason];
  const hasPicture = objectsOf(membersOf(candidate['content'])['parts']).some((part) => readPart(part).length > 0);
  if (hasPicture) return [];
  const words = itemsOf(membersOf(candidate['content'])['parts']).flatMap((part) => filledText(membersOf(part)['text']) ?? []);
  return [words.length === 0 ? 'NO_IMAGE' : `The model answered in words: ${words.join(' ').slice(0, 200)}`];
}
