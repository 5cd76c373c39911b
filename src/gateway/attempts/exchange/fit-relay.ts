import type { UpstreamDialectId } from '../../../dialects/dialect-id.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import { addWarnings } from '../../replies/write-reply.ts';
import type { Target } from '../routing/target.ts';
import type { ReplyRelay } from './reply-relay.ts';

/**
 * Fits a relay to the vendor of a target: its errors that are not in the form of the dialect, its frames that are not,
 * and the notes about what it made of the request.
 */
export function fitRelay<Piece>(
  relay: ReplyRelay<Piece>,
  target: Target,
  dialect: UpstreamDialectId,
  notes: readonly TranslationNote[],
): ReplyRelay<Piece> {
  const { vendor } = target.upstream;
  const { reframe, reshapeReply } = vendor;
  if (vendor.readRefusal === undefined && reframe === undefined && reshapeReply === undefined && notes.length === 0) return relay;
  const { readRefusal } = readRefusalOf(target, dialect);
  return {
    ...relay,
    ...(readRefusal === undefined ? {} : { readRefusal: (answer) => relay.readRefusal?.(answer) ?? readRefusal(answer) }),
    ...(reshapeReply === undefined ? {} : reshapeReplies(relay, reshapeReply)),
    ...(reframe === undefined ? {} : { reframe: (frame) => reframe(frame, dialect) }),
    replyHeaders: (headers) => addWarnings(plainType(relay.replyHeaders(headers)), notes),
  };
}

/** The reader of refusals that the vendor of a target words in a form of its own; nothing for other vendors. */
export function readRefusalOf({ upstream, upstreamModel }: Target, dialect: UpstreamDialectId): Pick<ReplyRelay, 'readRefusal'> {
  const { readRefusal } = upstream.vendor;
  return readRefusal === undefined ? {} : { readRefusal: (answer) => readRefusal({ ...answer, model: upstreamModel }, dialect) };
}

/** The frames of a binary stream are passed on as server-sent events. */
function plainType(headers: Record<string, string>): Record<string, string> {
  if (!isEventStream(headers['content-type'])) return headers;
  return { ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
}

function isEventStream(type: string | undefined): boolean {
  return type?.startsWith('application/vnd.amazon.eventstream') === true;
}

/** Reads and writes whole replies in the form of their dialect. */
function reshapeReplies<Piece>(
  relay: ReplyRelay<Piece>,
  reshapeReply: NonNullable<UpstreamVendor['reshapeReply']>,
): Pick<ReplyRelay<Piece>, 'parse' | 'writeReply'> {
  let written: Buffer | undefined;
  return {
    parse: (body) => {
      const parsed: unknown = relay.parse === undefined ? parseJson(body) : relay.parse(body);
      const reply = reshapeReply(parsed);
      if (reply !== undefined) written = Buffer.from(JSON.stringify(reply));
      return reply ?? parsed;
    },
    writeReply: (reply, bytes, charged) => relay.writeReply(reply, written ?? bytes, charged),
  };
}
