import type { ImageEvent, ImageReply, ImageRequest, ImageSettings, GeneratedImage } from '../../inference/image.ts';
import { countOf, filledText, membersOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';
import { readImageTokens, writeImageTokens } from './image-usage.ts';
import { readGeneratedImage, readSettings, withParameters } from './read-images-reply.ts';

/** The meaning of an event of an upstream's stream. `unclear` should contain an image and has none. */
export type UpstreamImageEvent =
  | ImageEvent
  | { readonly kind: 'error'; readonly error: ErrorInReply }
  | { readonly kind: 'other' | 'unclear' };

/** Reads the payload of an event of `stream: true`, of generations or edits. */
export function readImageEvent(data: string): UpstreamImageEvent {
  const event = data === '' || data === '[DONE]' ? undefined : parseIfJson(data);
  if (!isJsonObject(event)) return { kind: 'other' };
  const error = event['error'] ?? undefined;
  if (error !== undefined || event['type'] === 'error') return readError(error, event);
  const [, kind] = /^image_(?:generation|edit)\.(partial_image|completed)$/.exec(textOf(event['type']) ?? '') ?? [];
  if (kind === undefined) return { kind: 'other' };
  const image = readGeneratedImage(event);
  if (image === undefined) return { kind: 'unclear' };
  const settings = readSettings(event, 'created_at');
  if (kind === 'partial_image') return { kind: 'partial', index: countOf(event['partial_image_index']) ?? 0, image, settings };
  const usage = readImageTokens(event['usage']);
  return { kind: 'completed', image, settings, ...(usage !== undefined && { usage: withParameters(usage, settings) }) };
}

function readError(error: JsonValue | undefined, event: JsonObject): UpstreamImageEvent {
  const members = membersOf(error);
  const message = filledText(members['message']) ?? filledText(event['message']) ?? (typeof error === 'string' ? error : 'no message');
  return { kind: 'error', error: describeErrorInReply(message, members, event) };
}

/**
 * The events of a finished reply, for clients that requested a stream from an upstream that has none. Usage is in the
 * last.
 */
export function replayImages({ images, settings, usage }: ImageReply): readonly ImageEvent[] {
  return images.map((image, index) => ({ kind: 'completed', image, settings, ...(index === images.length - 1 && { usage }) }));
}

/** Values of members that the interface promises, if the upstream does not report them. */
type EventDefaults = Pick<ImageRequest, 'operation'> & { readonly createdAtSeconds: number };

export function writeImageEvent(event: ImageEvent, { operation, createdAtSeconds }: EventDefaults): Buffer {
  const type = `image_${operation === 'edit' ? 'edit' : 'generation'}.${event.kind === 'partial' ? 'partial_image' : 'completed'}`;
  const usage = event.kind === 'completed' && event.usage !== undefined ? writeImageTokens(event.usage) : undefined;
  const body: JsonObject = {
    type,
    ...writeGeneratedImage(event.image),
    created_at: event.settings.createdAtSeconds ?? createdAtSeconds,
    size: event.settings.size ?? 'auto',
    quality: event.settings.quality ?? 'auto',
    background: event.settings.background ?? 'auto',
    output_format: event.settings.outputFormat ?? formatOf(event.image) ?? 'png',
    ...(event.kind === 'partial' && { partial_image_index: event.index }),
    ...(usage !== undefined && { usage }),
  };
  return encodeSse({ event: type, data: JSON.stringify(body) });
}

/** Writes a whole reply of the image interface. */
export function writeImagesReply({ images, settings, usage }: ImageReply, createdAtSeconds: number): JsonObject {
  const tokens = writeImageTokens(usage);
  const [first] = images;
  return {
    created: settings.createdAtSeconds ?? createdAtSeconds,
    ...writeSettings(settings, first),
    data: images.map(writeGeneratedImage),
    ...(tokens !== undefined && { usage: tokens }),
  };
}

function writeSettings({ background, outputFormat, quality, size }: ImageSettings, first: GeneratedImage | undefined): JsonObject {
  const format = outputFormat ?? (first && formatOf(first));
  return {
    ...(background !== undefined && { background }),
    ...(format !== undefined && { output_format: format }),
    ...(quality !== undefined && { quality }),
    ...(size !== undefined && { size }),
  };
}

function writeGeneratedImage({ content, revisedPrompt }: GeneratedImage): JsonObject {
  const bytes = content.kind === 'inline' ? { b64_json: content.data } : { url: content.url };
  return { ...bytes, ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }) };
}

function formatOf({ content }: GeneratedImage): string | undefined {
  return content.kind === 'inline' ? /^image\/(png|jpeg|webp)$/.exec(content.mediaType ?? '')?.[1] : undefined;
}
