import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
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
import type { ChargedUsage, ReplyRelay, WrittenReply } from '../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { requestIdHeader, translationHeaders } from '../../replies/write-reply.ts';
import type { PictureClient } from '../shared/picture-maker.ts';
import { boundImages, imageInterfaceOf } from './bound-images.ts';
import { type ChargedBy, countImages } from './count-images.ts';
import { createImageStream } from './image-stream.ts';
import type { LinkPictures } from './picture-files.ts';

/** A call at its target, as its replies are read. */
export type RelayedImages = {
  readonly callId: string;
  readonly asked: ImageRequest;
  readonly client: PictureClient;
  readonly target: Target;
  readonly chargedBy: ChargedBy;
  /** What the request had to be changed by. */
  readonly notes: readonly TranslationNote[];
  readonly createdAtMs: number;
  /** Gives pictures addresses that are wanted and that the upstream does not give. Absent where none are wanted, or none can be given. */
  readonly link?: LinkPictures | undefined;
};

const passedHeaders = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** Brings replies of an image interface into OpenAI's: whole ones, streams, and whole ones in place of a stream. */
export function createImageRelay(call: RelayedImages): ReplyRelay {
  const { asked, client, target } = call;
  const made = imageInterfaceOf(target);
  const upstream = chatDialects[made.form === 'openai' || made.form === 'xai' ? 'openai-chat' : 'gemini-generate-content'];
  const createdAtSeconds = Math.floor(call.createdAtMs / 1000);
  let keep: (() => Promise<WrittenReply<Buffer> | undefined>) | undefined;
  let known: { readonly reply: unknown; readonly images: ImageReply | undefined } | undefined;
  // A reply has some megabytes: it is looked at once.
  const read = (reply: unknown): ImageReply | undefined => {
    if (known?.reply !== reply) known = { reply, images: isJsonObject(reply) ? readCounted(reply, call, made) : undefined };
    return known?.images;
  };
  const write = <Written extends WrittenReply<Buffer>>(
    reply: unknown,
    bytes: Buffer,
    charged: ChargedUsage | undefined,
    inWords: (told: ImageReply) => Written,
  ): Written => {
    const images = read(reply);
    known = undefined;
    if (images === undefined) throw holdsNone(target.upstream.id, bytes.length);
    requireImages(images);
    const told = tellCharged(images, charged);
    const linked = call.link?.(images.images);
    // Where the files cannot be kept the client gets what it pays for all the same.
    if (linked !== undefined) keep = async () => ((await linked.keep()) ? undefined : inWords(told));
    return inWords(linked === undefined ? told : { ...told, images: linked.images });
  };
  return {
    // Whole replies have a type that is none of a stream's.
    upstreamFraming: client.framing === undefined ? undefined : 'sse',
    replyHeaders: (received) => replyHeaders(call, made, received),
    readReply: (reply) => describeReply(read(reply), upstream.readReply(reply)),
    // The pictures are made by the time that an upstream begins to answer: its vendor bills them.
    begun: () => ({
      outputCharacters: 0,
      usageReport: { usage: boundImages(asked, target).expected, raw: null, trustworthy: true, outputGoesOn: true },
    }),
    writeReply: (reply, bytes, charged) => write(reply, bytes, charged, (told) => client.write(told, createdAtSeconds)),
    replay: (reply, bytes, charged) => {
      const replayed = (told: ImageReply): readonly Buffer[] => client.replay(told, createdAtSeconds);
      return write(reply, bytes, charged, replayed);
    },
    kept: () => keep?.(),
    openStream: (_limits, _mayBeCut, charged) => {
      const { writeEvent } = client;
      return createImageStream({ asked, made, chargedBy: call.chargedBy, createdAtSeconds, charged, ...(writeEvent && { writeEvent }) });
    },
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

/** The reply with the usage that is charged for it. */
function tellCharged(images: ImageReply, charged: ChargedUsage | undefined): ImageReply {
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

function holdsNone(upstreamId: string, length: number): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply holds no pictures.", {
    internal: `${upstreamId} answered with ${length} bytes`,
  });
}
