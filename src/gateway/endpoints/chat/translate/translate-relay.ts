import type { IncomingHttpHeaders } from 'node:http';

import { foldEvents } from '../../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import { replayReply } from '../../../../inference/replay-reply.ts';
import type { ChatDialect, ReplyReport } from '../../../../dialects/chat-dialect.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { createErrorReader } from '../../shared/read-error-answer.ts';
import { requestIdHeader, translationHeaders } from '../../../replies/write-reply.ts';
import type { ChargedUsage, ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';
import { refuseDeepReply } from './reply-bound.ts';
import type { ReplyForm } from '../reply-form.ts';
import { createEventLine, failureOf } from './translate-events.ts';
import { createTranslatedStream } from './translated-stream.ts';
import type { Translation } from './prepare-translation.ts';
import type { ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { InferenceReply } from '../../../../inference/inference-reply.ts';

/** Retry advice means the same in every dialect. Other headers of vendors have no meaning in another dialect. */
const passedHeaders = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/**
 * Translates replies between two dialects by way of the neutral form.
 * @param form the form that the sink of the reply accepts
 */
export function createTranslateRelay<Piece>(translation: Translation, form: ReplyForm<Piece>): ReplyRelay<Piece> {
  const { upstream, framing } = translation;
  let whole: JsonObject | undefined;
  return {
    upstreamFraming: framing === undefined ? undefined : 'sse',
    replyHeaders: (headers) => replyHeaders(translation, headers),
    readReply: (reply) => readReply(translation, reply),
    writeReply: (reply, _bytes, charged) => {
      const written = encodeWhole(translation.client, foldEvents(translateWhole(translation, reply, charged)), translation.writing);
      whole = written.whole;
      return Buffer.from(JSON.stringify(written.reply));
    },
    replay: (reply, _bytes, charged) => {
      const writer = form.createWriter(translation.writing);
      const pieces = writer.write(translateWhole(translation, reply, charged));
      whole = writer.kept?.();
      return pieces;
    },
    wholeReply: () => whole,
    openStream: ({ replyBytesMax }, _mayBeCut, charged) => createTranslatedStream(translation, form, { replyBytesMax, charged }),
    readError: createErrorReader(upstream),
  };
}

/** The upstream's own report. A failure that the client's dialect cannot express in a reply becomes an error. */
function readReply({ upstream, client, reading, writing }: Translation, reply: unknown): ReplyReport {
  refuseDeepReply(reply);
  const report = upstream.readReply(reply);
  if (report.error !== undefined) return report;
  if (writing.compaction !== undefined) {
    const { parts } = upstream.codec.decodeReply(reply, reading);
    const hasSummary = parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
    return hasSummary ? report : { ...report, error: { message: 'the model wrote no summary of the conversation', status: 502 } };
  }
  if (client.codec.saysFailure) return report;
  const { stopReason, stopDetail } = upstream.codec.decodeReply(reply, reading);
  return stopReason === 'failed' ? { ...report, error: failureOf(stopDetail) } : report;
}

/** A whole reply takes the same path as a stream, so that the two can never differ. */
function translateWhole(translation: Translation, reply: unknown, charged: ChargedUsage | undefined): readonly InferenceEvent[] {
  const { upstream, reading } = translation;
  const ofReply = charged === undefined ? undefined : () => charged(upstream.readReply(reply), true);
  return createEventLine(translation, ofReply).push(replayReply(upstream.codec.decodeReply(reply, reading)));
}

function replyHeaders({ client, framing, writing, notes }: Translation, headers: IncomingHttpHeaders): Record<string, string> {
  const written: Record<string, string> = {
    'content-type': framing === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8',
    ...(framing === 'sse' ? { 'cache-control': 'no-cache' } : {}),
    [client.requestIdHeader]: writing.requestId,
    [requestIdHeader]: writing.requestId,
    ...translationHeaders(notes.list()),
  };
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === 'string') written[name] = value;
  }
  return written;
}

/**
 * Writes a whole reply for the client. In dialects whose replies are stored, `whole` is the same reply with the parts
 * that the client did not ask for.
 */
export function encodeWhole(
  { codec }: ChatDialect,
  reply: InferenceReply,
  writing: ReplyWriting,
): { readonly reply: JsonObject; readonly whole: JsonObject | undefined } {
  // Two encoders would give the items different ids. So a reply that is stored comes from one stream.
  const encoder = writing.replyId === undefined ? undefined : codec.createEventEncoder(writing, 'sse');
  if (encoder?.kept === undefined) return { reply: codec.encodeReply(reply, writing), whole: undefined };
  for (const event of replayReply(reply)) encoder.write(event);
  return { reply: encoder.position().partialResponse ?? {}, whole: encoder.kept() };
}
