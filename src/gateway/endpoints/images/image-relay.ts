import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { replayImages, writeImageEvent, writeImagesReply } from '../../../dialects/openai-images/image-events.ts';
import { readGeminiPicture } from '../../../dialects/openai-images/read-gemini-picture.ts';
import { readImagenReply } from '../../../dialects/openai-images/read-imagen-reply.ts';
import { readImagesReply } from '../../../dialects/openai-images/read-images-reply.ts';
import { requireImages } from '../../../dialects/openai-images/require-images.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageReply, ImageRequest } from '../../../inference/image.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import { forwardReplyHeaders, passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import type { ChargedUsage, ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import { translationHeaders } from '../../replies/warning-header.ts';
import { boundImages, imageInterfaceOf } from './bound-images.ts';
import { type ChargedBy, countImages } from './count-images.ts';
import { createImageStream } from './image-stream.ts';

/** A call at its target, as its replies are read. */
export type RelayedImages = {
  readonly callId: string;
  readonly asked: ImageRequest;
  readonly target: Target;
  readonly chargedBy: ChargedBy;
  /** What the request had to be changed by. */
  readonly notes: readonly TranslationNote[];
  readonly createdAtMs: number;
};

const passedHeaders = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** Brings replies of an image interface into OpenAI's: whole ones, streams, and whole ones in place of a stream. */
export function createImageRelay(call: RelayedImages): ReplyRelay {
  const { asked, target } = call;
  const made = imageInterfaceOf(target);
  const upstream = chatDialects[made.form === 'openai' || made.form === 'xai' ? 'openai-chat' : 'gemini-generate-content'];
  const createdAtSeconds = Math.floor(call.createdAtMs / 1000);
  let known: { readonly reply: unknown; readonly images: ImageReply | undefined } | undefined;
  // A reply has some megabytes: it is looked at once.
  const read = (reply: unknown): ImageReply | undefined => {
    if (known?.reply !== reply) known = { reply, images: isJsonObject(reply) ? readCounted(reply, call, made) : undefined };
    return known?.images;
  };
  return {
    // Whole replies have a type that is none of a stream's.
    upstreamFraming: asked.stream ? 'sse' : undefined,
    streamsWholeReplies: true,
    replyHeaders: (received) => replyHeaders(call, made, received),
    readReply: (reply) => describeReply(read(reply), upstream.readReply(reply)),
    // The pictures are made by the time that an upstream begins to answer: its vendor bills them.
    begun: () => ({
      outputCharacters: 0,
      usageReport: { usage: boundImages(asked, target).expected, raw: null, trustworthy: true, outputGoesOn: true },
    }),
    writeReply: (reply, bytes, charged) => {
      const images = read(reply);
      known = undefined;
      if (images === undefined) throw holdsNone(target.upstream.id, bytes.length);
      requireImages(images);
      return writeCharged(images, asked, createdAtSeconds, charged);
    },
    openStream: (_limits, _mayBeCut, charged) => createImageStream({ asked, made, chargedBy: call.chargedBy, createdAtSeconds, charged }),
    readError: ({ status, headers, body }) => {
      const seconds = Number(headers['retry-after'] ?? Number.NaN);
      return upstream.codec.decodeError({ status, body, ...(Number.isFinite(seconds) && { retryAfterSeconds: Math.ceil(seconds) }) });
    },
  };
}

function readCounted(reply: JsonObject, { asked, chargedBy }: RelayedImages, made: ImageInterface): ImageReply | undefined {
  const images = readAs(made.form, reply, asked);
  if (images === undefined) return undefined;
  const { settings, usage: reported } = images;
  const counted = { finished: images.images.length, partial: 0, sources: asked.sources.length, settings, reported };
  return { ...images, usage: countImages(counted, asked, made, chargedBy) ?? reported };
}

function readAs(form: ImageInterface['form'], reply: JsonObject, asked: ImageRequest): ImageReply | undefined {
  if (form === 'gemini') return readGeminiPicture(reply, asked);
  if (form === 'imagen') return 'error' in reply ? undefined : readImagenReply(reply);
  return readImagesReply(reply, asked);
}

/** What the books need of a reply. Whether it holds an error is told as in chats. */
function describeReply(images: ImageReply | undefined, { error }: ReplyReport): ReplyReport {
  if (images === undefined) return { outputCharacters: 0, ...(error !== undefined && { error }) };
  const { usage, servedModel } = images;
  // Pictures are no text; where there are some, a report that says nothing of them is not whole.
  return { outputCharacters: images.images.length, usageReport: usage, ...(servedModel !== undefined && { servedModel }) };
}

function writeCharged(images: ImageReply, asked: ImageRequest, createdAtSeconds: number, charged: ChargedUsage | undefined): Buffer {
  const report = describeReply(images, { outputCharacters: 0 });
  const told = { ...images, usage: charged?.(report, true) ?? images.usage };
  if (!asked.stream) return Buffer.from(JSON.stringify(writeImagesReply(told, createdAtSeconds)));
  const { operation } = asked;
  return Buffer.concat(replayImages(told).map((event) => writeImageEvent(event, { operation, createdAtSeconds })));
}

function replyHeaders(
  { callId, asked, target, notes }: RelayedImages,
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
  const type = asked.stream ? 'text/event-stream; charset=utf-8' : 'application/json';
  return { ...passed, 'content-type': type, ...(asked.stream && { 'cache-control': 'no-cache' }), ...translationHeaders(notes) };
}

function holdsNone(upstreamId: string, length: number): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply holds no pictures.", {
    internal: `${upstreamId} answered with ${length} bytes`,
  });
}
