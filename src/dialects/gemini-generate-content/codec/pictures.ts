import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageReply, GeneratedImage } from '../../../inference/image.ts';
import { membersOf, numberOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { listUnread } from '../../list-unread.ts';
import type { ImageCodec, ImageChatRequest, ImageReplyWriting } from '../../image-codec.ts';
import type { WireRequest } from '../../wire-request.ts';
import { canonicalizeRequest } from '../canonicalize-request.ts';
import { readRequestedModel } from '../read-facts.ts';
import { requestSchema } from '../request-schema.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeUsage } from './encode-usage.ts';

/** Images as parts of generate-content: asked for by `responseModalities`, with `imageConfig`. */
export const pictureCodec: ImageCodec = { modelOf: readRequestedModel, decode, encode };

const countMax = 10;
const configPath = 'generationConfig.imageConfig';

function decode(request: WireRequest): ImageChatRequest | undefined {
  if (request.operation !== 'generate') return undefined;
  const body = canonicalizeRequest(request.body, requestSchema('generate', 'compatible'), true);
  const config = membersOf(body['generationConfig']);
  const modalities = textsOf(config['responseModalities']);
  if (!modalities.includes('IMAGE')) return undefined;
  const other = modalities.find((modality) => !['IMAGE', 'TEXT', 'MODALITY_UNSPECIFIED'].includes(modality));
  if (other !== undefined)
    throw refuse('generationConfig.responseModalities', `this model makes images and cannot answer with ${other}. Send ["IMAGE"].`);
  const { responseModalities: _told, imageConfig, candidateCount, ...rest } = config;
  const chat = decodeRequest({ ...request, body: { ...body, generationConfig: rest } });
  const count = numberOf(candidateCount) ?? 1;
  if (count > countMax) throw refuse('generationConfig.candidateCount', `at most ${countMax} images can be requested in one call.`);
  // No other vendor makes images of this size.
  const isSmallest = membersOf(imageConfig)['imageSize'] === '512';
  const unread = listUnread(imageConfig, configPath, new Set(['aspectRatio', ...(isSmallest ? [] : ['imageSize'])]));
  return { chat: { ...chat, vendorFields: [...chat.vendorFields, ...unread] }, count, ...decodeShape(membersOf(imageConfig)) };
}

function decodeShape({ aspectRatio, imageSize }: JsonObject): Pick<ImageChatRequest, 'aspectRatio' | 'resolution'> {
  const ratio = readWord(aspectRatio, /^\d{1,3}(?:\.\d{1,2})?:\d{1,3}(?:\.\d{1,2})?$/, 'aspectRatio', 'a shape such as "16:9"');
  const size = readWord(imageSize, /^[124]k$/i, 'imageSize', '"512", "1K", "2K" or "4K"');
  return { ...(ratio !== undefined && { aspectRatio: ratio }), ...(size !== undefined && { resolution: size.toLowerCase() }) };
}

function readWord(value: JsonValue | undefined, pattern: RegExp, name: string, expected: string): string | undefined {
  const word = textOf(value) ?? '';
  if (word === '' || word === '512') return undefined;
  if (pattern.test(word)) return word;
  const param = `${configPath}.${name}`;
  throw new GatewayError('invalid_value', `${param}: expected ${expected}, but got "${word.slice(0, 40)}"`, { param });
}

function refuse(param: string, problem: string): GatewayError {
  return new GatewayError('untranslatable_field', `${param}: ${problem}`, { param });
}

function encode(reply: ImageReply, { requestId, requestedModel, framing }: ImageReplyWriting): Buffer {
  const generated = reply.images.map((image, index): JsonObject => ({
    content: { parts: encodeParts(image), role: 'model' },
    finishReason: 'STOP',
    index,
  }));
  // Each withheld image is a candidate with its own finish reason.
  const withheld = reply.withheld.map((reason, index): JsonObject => ({
    finishReason: 'IMAGE_SAFETY',
    finishMessage: reason,
    index: generated.length + index,
  }));
  const usageMetadata = encodeUsage(reply.usage);
  const json = JSON.stringify({
    candidates: [...generated, ...withheld],
    ...(Object.keys(usageMetadata).length > 0 && { usageMetadata }),
    modelVersion: reply.servedModel ?? requestedModel,
    responseId: requestId,
  });
  if (framing === undefined) return Buffer.from(json);
  return Buffer.from(framing === 'sse' ? `data: ${json}\r\n\r\n` : `[${json}\r\n]`);
}

function encodeParts({ content, revisedPrompt }: GeneratedImage): readonly JsonObject[] {
  const picture =
    content.kind === 'inline'
      ? { inlineData: { mimeType: content.mediaType ?? 'image/png', data: content.data } }
      : { fileData: { fileUri: content.url } };
  return revisedPrompt === undefined ? [picture] : [{ text: revisedPrompt }, picture];
}
