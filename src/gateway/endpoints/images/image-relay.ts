import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { readGeminiImages } from '../../../dialects/openai-images/read-gemini-images.ts';
import { readImagenReply } from '../../../dialects/openai-images/read-imagen-reply.ts';
import { readImagesReply } from '../../../dialects/openai-images/read-images-reply.ts';
import { requireImages } from '../../../dialects/openai-images/require-images.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageReply, ImageRequest } from '../../../inference/image.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import { readRefusalOf } from '../../attempts/exchange/fit-relay.ts';
import { forwardReplyHeaders, passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import type { ChargedUsage, ReplyRelay, WrittenReply } from '../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { requestIdHeader, translationHeaders } from '../../replies/write-reply.ts';
import type { ImageClient } from '../shared/image-maker.ts';
import { createErrorReader } from '../shared/read-error-answer.ts';
import { boundImages, imageInterfaceOf } from './bound-images.ts';
import { type ChargedBy, countImages } from './count-images.ts';
import { createImageStream } from './image-stream.ts';
import type { LinkImages } from './image-files.ts';

/** A call at its target. */
export type RelayedImages = {
  readonly callId: string;
  readonly request: ImageRequest;
  readonly client: ImageClient;
  readonly target: Target;
  readonly chargedBy: ChargedBy;
  /** Translation notes of the request. */
  readonly notes: readonly TranslationNote[];
  readonly createdAtMs: number;
  /** Links the images. Absent if the client wants no links, or the gateway stores no files. */
  readonly link?: LinkImages | undefined;
};

const passedHeaders = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** Translates replies of an image interface: whole replies, streams, and whole replies to a stream request. */
export function createImageRelay(call: RelayedImages): ReplyRelay {
  const { request, client, target } = call;
  const made = imageInterfaceOf(target);
  const upstream = chatDialects[made.form === 'openai' || made.form === 'xai' ? 'openai-chat' : 'gemini-generate-content'];
  const createdAtSeconds = Math.floor(call.createdAtMs / 1000);
  let keep: (() => Promise<WrittenReply<Buffer> | undefined>) | undefined;
  let cached: { readonly reply: unknown; readonly images: ImageReply | undefined } | undefined;
  // A reply has megabytes, so it is read once.
  const read = (reply: unknown): ImageReply | undefined => {
    if (cached?.reply !== reply) cached = { reply, images: isJsonObject(reply) ? readCounted(reply, call, made) : undefined };
    return cached?.images;
  };
  const write = <Written extends WrittenReply<Buffer>>(
    reply: unknown,
    bytes: Buffer,
    charged: ChargedUsage | undefined,
    encode: (reply: ImageReply) => Written,
  ): Written => {
    const images = read(reply);
    cached = undefined;
    if (images === undefined) throw noImages(target.upstream.id, bytes.length);
    requireImages(images);
    const charges = withChargedUsage(images, charged);
    const linked = call.link?.(images.images);
    // If the files cannot be stored, the client gets the bytes, because it pays for them.
    if (linked !== undefined) keep = async () => ((await linked.keep()) ? undefined : encode(charges));
    return encode(linked === undefined ? charges : { ...charges, images: linked.images });
  };
  return {
    // Whole replies have a content type of their own.
    upstreamFraming: client.framing === undefined ? undefined : 'sse',
    replyHeaders: (received) => replyHeaders(call, made, received),
    readReply: (reply) => describeReply(read(reply), upstream.readReply(reply)),
    // When an upstream begins to answer, the images exist and its vendor bills them.
    begun: () => ({
      outputCharacters: 0,
      usageReport: { usage: boundImages(request, target).expected, raw: null, trustworthy: true, outputGoesOn: true },
    }),
    writeReply: (reply, bytes, charged) => write(reply, bytes, charged, (images) => client.write(images, createdAtSeconds)),
    replay: (reply, bytes, charged) => {
      const replayed = (images: ImageReply): readonly Buffer[] => client.replay(images, createdAtSeconds);
      return write(reply, bytes, charged, replayed);
    },
    kept: () => keep?.(),
    openStream: (_limits, _mayBeCut, charged) => {
      const { writeEvent } = client;
      return createImageStream({ request, made, chargedBy: call.chargedBy, createdAtSeconds, charged, ...(writeEvent && { writeEvent }) });
    },
    readError: createErrorReader(upstream),
    ...readRefusalOf(target, upstream.id),
  };
}

function readCounted(reply: JsonObject, { request, chargedBy }: RelayedImages, made: ImageInterface): ImageReply | undefined {
  const images = readAs(made.form, reply, request);
  if (images === undefined) return undefined;
  const { settings, usage: reported } = images;
  const counted = { finished: images.images.length, partial: 0, sources: request.sources.length, settings, reported };
  return { ...images, usage: countImages(counted, request, made, chargedBy) ?? reported };
}

function readAs(form: ImageInterface['form'], reply: JsonObject, request: ImageRequest): ImageReply | undefined {
  if (form === 'gemini') return readGeminiImages(reply, request);
  if (form === 'imagen') return 'error' in reply ? undefined : readImagenReply(reply);
  return readImagesReply(reply, request);
}

/** The report on a reply for the books. Errors are read as in chats. */
function describeReply(images: ImageReply | undefined, { error }: ReplyReport): ReplyReport {
  if (images === undefined) return { outputCharacters: 0, ...(error !== undefined && { error }) };
  const { usage, servedModel } = images;
  // Images count as output, so that a usage report without output is recognised as incomplete.
  return { outputCharacters: images.images.length, usageReport: usage, ...(servedModel !== undefined && { servedModel }) };
}

/** The reply with the charged usage. */
function withChargedUsage(images: ImageReply, charged: ChargedUsage | undefined): ImageReply {
  const report = describeReply(images, { outputCharacters: 0 });
  return { ...images, usage: charged?.(report, true) ?? images.usage };
}

function replyHeaders(
  { callId, client, target, notes }: RelayedImages,
  { form }: ImageInterface,
  received: Parameters<ReplyRelay['replyHeaders']>[0],
): Record<string, string> {
  const passed =
    form === 'openai'
      ? passReplyHeaders(target.upstream, received, callId)
      : { ...forwardReplyHeaders(target.upstream, received), [requestIdHeader]: callId };
  for (const name of passedHeaders) {
    const value = received[name];
    if (typeof value === 'string') passed[name] = value;
  }
  const isEvents = client.framing === 'sse';
  const type = isEvents ? 'text/event-stream; charset=utf-8' : 'application/json';
  return { ...passed, 'content-type': type, ...(isEvents && { 'cache-control': 'no-cache' }), ...translationHeaders(notes) };
}

function noImages(upstreamId: string, length: number): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply has no images.", {
    internal: `${upstreamId} answered with ${length} bytes`,
  });
}
