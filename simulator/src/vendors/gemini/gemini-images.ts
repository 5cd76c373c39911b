import { countTokens } from '../../count-tokens.ts';
import { type ImageFormat, writePlainImage } from '../../media/plain-image.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord, MediaCall, MediaReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { checkGenerateContent } from './check-generate-content.ts';
import { decodeProtoJson } from './decode-proto-json.ts';
import { refuse, writeErrorBody } from './gemini-error.ts';
import { toPlanRequest } from './generate-content-plan.ts';
import { generateContentMessage } from './generate-content-schema.ts';
import { writePromptDetails } from './write-usage.ts';

const edges: Readonly<Record<string, number>> = { '512': 512, '1K': 1024, '2K': 2048, '4K': 4096 };
const samplesMax = 4;
const pictureTokens = 1120;
const largePictureTokens = 2000;

/** Images of generate-content (whole, or as events) and Imagen's `:predict`; undefined for every other request. */
export function handleImages(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> | undefined {
  const [, model = '', action = ''] =
    /^\/v1(?:beta|alpha)?\/models\/([^:]+):([A-Za-z]+)$/.exec(request.path.replaceAll(/%3a/gi, ':')) ?? [];
  if (request.method !== 'POST' || request.body === undefined || model.startsWith('missing-')) return undefined;
  if (action === 'predict') return predict(request.body, call);
  const isSse = action === 'streamGenerateContent' && request.query.get('alt') === 'sse';
  if (!wantsPicture(request.body) || !(isSse || action === 'generateContent')) return undefined;
  return generate(model, request.body, call, isSse);
}

function wantsPicture({ generationConfig, generation_config: snake }: JsonRecord): boolean {
  const config = isRecord(generationConfig) ? generationConfig : isRecord(snake) ? snake : {};
  const modalities = config['responseModalities'] ?? config['response_modalities'];
  return Array.isArray(modalities) && modalities.includes('IMAGE');
}

// oxlint-disable-next-line typescript/require-await -- what is refused rejects
async function generate(model: string, sent: JsonRecord, call: MediaCall, isSse: boolean): Promise<MediaReply> {
  const body = decodeProtoJson(generateContentMessage, sent);
  checkGenerateContent(model, body);
  const planRequest = toPlanRequest(model, body);
  call.planReply(planRequest);
  const steering = call.steer(planRequest.promptText);
  const { aspectRatio = '1:1', imageSize = '1K' } = body.generationConfig?.imageConfig ?? {};
  const edge = Object.hasOwn(edges, imageSize) ? edges[imageSize] : undefined;
  if (edge === undefined)
    throw refuse(`* GenerateContentRequest.generation_config.image_config.image_size: unsupported value ${imageSize}\n`);
  const isBlocked = steering.stop === 'refusal' || steering.stop === 'content-filter';
  const made = isBlocked ? 0 : (steering.outputTokens ?? (imageSize === '4K' ? largePictureTokens : pictureTokens));
  const details = writePromptDetails(body, countTokens(planRequest.promptText) + planRequest.mediaCount * 256);
  const promptTokens = details.reduce((sum, { tokenCount }) => sum + Number(tokenCount), 0);
  const picture = (): JsonRecord => ({
    inlineData: { mimeType: 'image/png', data: draw('png', aspectRatio, edge, `${call.seed}/${planRequest.promptText}`) },
  });
  const candidate: JsonRecord = isBlocked
    ? { content: {}, finishReason: 'IMAGE_SAFETY', finishMessage: 'Unable to show the generated image.', index: 0 }
    : { content: { role: 'model', parts: [picture()] }, finishReason: 'STOP', index: 0 };
  const reply: JsonRecord = {
    candidates: [candidate],
    usageMetadata: {
      promptTokenCount: promptTokens,
      ...(made > 0 && { candidatesTokenCount: made, candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: made }] }),
      totalTokenCount: promptTokens + made,
      promptTokensDetails: details,
    },
    modelVersion: model,
  };
  const media = { inputTokens: promptTokens, outputTokens: made };
  if (!isSse) return whole(reply, media);
  return {
    type: 'media',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    frames: [`data: ${JSON.stringify(reply)}\r\n\r\n`],
    frameTokens: [Math.max(1, made)],
    errorFrame: `data: ${JSON.stringify(writeErrorBody(503, 'The model is overloaded. Please try again later.'))}\r\n\r\n`,
    media,
  };
}

// oxlint-disable-next-line typescript/require-await -- what is refused rejects
async function predict(body: JsonRecord, call: MediaCall): Promise<MediaReply> {
  const prompt = asText(recordsOf(body['instances'])[0]?.['prompt']);
  if (prompt === '') throw refuse('Request must have exactly one instance with a prompt.');
  const parameters = isRecord(body['parameters']) ? body['parameters'] : {};
  const { sampleCount = 1, aspectRatio = '1:1', sampleImageSize = '1K', outputOptions } = parameters;
  if (typeof sampleCount !== 'number' || !Number.isInteger(sampleCount) || sampleCount < 1 || sampleCount > samplesMax)
    throw refuse(`sampleCount must be between 1 and ${samplesMax}.`);
  const ratio = asText(aspectRatio);
  if (!['1:1', '3:4', '4:3', '9:16', '16:9'].includes(ratio)) throw refuse(`aspectRatio ${ratio} is not supported.`);
  const format = isRecord(outputOptions) ? readFormat(outputOptions['mimeType']) : 'png';
  const steering = call.steer(prompt);
  const isFiltered = steering.stop === 'refusal' || steering.stop === 'content-filter';
  const edge = edges[asText(sampleImageSize)] ?? 1024;
  const predictions = Array.from({ length: sampleCount }, (_, index): JsonRecord =>
    isFiltered
      ? { raiFilteredReason: 'Unable to show generated images: all images were filtered out.' }
      : { mimeType: `image/${format}`, bytesBase64Encoded: draw(format, ratio, edge, `${call.seed}/${prompt}/${index}`) },
  );
  return whole({ predictions }, {});
}

function readFormat(type: Json | undefined): ImageFormat {
  if (type === undefined || type === 'image/png') return 'png';
  if (type === 'image/jpeg') return 'jpeg';
  throw refuse(`mimeType ${asText(type)} is not supported.`);
}

function draw(format: ImageFormat, ratio: string, edge: number, seed: string): string {
  const [wide = 1, high = 1] = ratio.split(':').map((part) => Math.max(1, Number(part) || 1));
  const size =
    wide >= high ? { width: edge, height: Math.round((edge * high) / wide) } : { width: Math.round((edge * wide) / high), height: edge };
  return writePlainImage({ format, ...size, seed }).toString('base64');
}

function whole(body: JsonRecord, media: NonNullable<MediaReply['media']>): MediaReply {
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  return { type: 'media', status: 200, headers, frames: [JSON.stringify(body, null, 2)], media };
}
