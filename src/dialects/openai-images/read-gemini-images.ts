import type { ImageReply, ImageRequest, GeneratedImage } from '../../inference/image.ts';
import { filledText, itemsOf, membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { decodeGeminiUsage } from '../decode-gemini-usage.ts';
import { countImages } from './image-usage.ts';

/** Finish reasons of a whole candidate. All others explain why an image is missing. */
const usualEndings: ReadonlySet<string> = new Set(['STOP', 'MAX_TOKENS', 'FINISH_REASON_UNSPECIFIED']);

/** Endings by the vendor's filters. */
const filterEndings = /SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION/;

/** Reads the images of a generate-content reply. Undefined for a body of another form. */
export function readGeminiImages(body: JsonObject, request: Pick<ImageRequest, 'sources'>): ImageReply | undefined {
  const blockReason = filledText(membersOf(body['promptFeedback'])['blockReason']);
  if (!Array.isArray(body['candidates']) && blockReason === undefined) return undefined;
  const candidates = objectsOf(body['candidates']);
  const images = candidates.flatMap((candidate) => objectsOf(membersOf(candidate['content'])['parts']).flatMap(readPart));
  const servedModel = filledText(body['modelVersion']);
  return {
    images,
    settings: {},
    usage: decodeGeminiUsage(body['usageMetadata'], true) ?? countImages(images.length, request.sources.length, undefined),
    withheld: [...(blockReason === undefined ? [] : [blockReason]), ...candidates.flatMap(readReason)],
    ...((blockReason !== undefined || candidates.some(isFiltered)) && { isFiltered: true }),
    ...(servedModel !== undefined && { servedModel }),
  };
}

/** An image among the parts. Images of the model's reasoning are not part of the answer. */
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
  const texts = itemsOf(membersOf(candidate['content'])['parts']).flatMap((part) => filledText(membersOf(part)['text']) ?? []);
  return [texts.length === 0 ? 'NO_IMAGE' : `The model answered with text: ${texts.join(' ').slice(0, 200)}`];
}

const isFiltered = ({ finishReason }: JsonObject): boolean => filterEndings.test(filledText(finishReason) ?? '');
