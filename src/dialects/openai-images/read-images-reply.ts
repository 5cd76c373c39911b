import type { ImageReply, ImageRequest, ImageSettings, GeneratedImage } from '../../inference/image.ts';
import type { PricingParameters, UsageReport } from '../../inference/usage.ts';
import { countOf, filledText } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { countImages, readImageTokens } from './image-usage.ts';
import { sniffImage } from './sniff-image.ts';

/** Reads a reply of OpenAI's or xAI's image interface. Undefined for a body of another form. */
export function readImagesReply(body: JsonObject, request: Pick<ImageRequest, 'sources'>): ImageReply | undefined {
  const { data } = body;
  if (!Array.isArray(data)) return undefined;
  const images: GeneratedImage[] = [];
  for (const item of data as readonly JsonValue[]) {
    const image = isJsonObject(item) ? readGeneratedImage(item) : undefined;
    if (image === undefined) return undefined;
    images.push(image);
  }
  const settings = readSettings(body, 'created');
  const usage = readImageTokens(body['usage']) ?? countImages(images.length, request.sources.length, body['usage']);
  const servedModel = filledText(body['model']);
  return { images, settings, usage: withParameters(usage, settings), withheld: [], ...(servedModel !== undefined && { servedModel }) };
}

/** An image with its bytes or its address. Undefined if it has neither. */
export function readGeneratedImage(item: JsonObject): GeneratedImage | undefined {
  const data = filledText(item['b64_json']);
  const url = filledText(item['url']);
  const revisedPrompt = filledText(item['revised_prompt']);
  const revised = revisedPrompt === undefined ? {} : { revisedPrompt };
  if (data !== undefined) return { content: { kind: 'inline', mediaType: sniffImage(data), data }, ...revised };
  return url === undefined ? undefined : { content: { kind: 'url', url }, ...revised };
}

/** The settings with which images were generated, from a reply or a stream event. */
export function readSettings(body: JsonObject, timeMember: 'created' | 'created_at'): ImageSettings {
  const createdAtSeconds = countOf(body[timeMember]);
  const size = filledText(body['size']);
  const quality = filledText(body['quality']);
  const background = filledText(body['background']);
  const outputFormat = filledText(body['output_format']);
  return {
    ...(createdAtSeconds !== undefined && { createdAtSeconds }),
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
    ...(outputFormat !== undefined && { outputFormat }),
  };
}

/** The report with the parameters on which the price of an image may depend. */
export function withParameters(report: UsageReport, { size, quality }: ImageSettings): UsageReport {
  const replyParameters: PricingParameters = { ...(size !== undefined && { size }), ...(quality !== undefined && { quality }) };
  return Object.keys(replyParameters).length === 0 ? report : { ...report, replyParameters };
}
