import { GatewayError } from '../../../inference/gateway-error.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { createCollectedReply } from './collect-reply.ts';
import type { AnyExchange, ExchangeContext, ReplyIntake, UpstreamFlow } from './exchange-context.ts';
import type { WrittenReply } from './reply-relay.ts';
import { chargedUsage } from './stream-parts.ts';
import { describeErrorInReply } from './upstream-failure.ts';

function invalidReply(context: AnyExchange, headers: Readonly<Record<string, string>>, length: number, cause?: unknown): GatewayError {
  const type = headers['content-type'] ?? 'no content type';
  const message = `Upstream connection error: the model service answered with ${length} bytes of ${type} that are no reply of this interface.`;
  return new GatewayError('upstream_invalid_reply', message, { internal: context.target.upstream.id, cause });
}

/** A parser may ignore a byte order mark (RFC 8259, section 8.1); the bytes go on with it. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** Writes a reply: as the stream that was asked for, or whole. */
function writeReply<Piece>(context: ExchangeContext<Piece>, reply: unknown, body: Buffer): WrittenReply<Piece> {
  const { relay, framing } = context;
  const charged = chargedUsage(context, 'finished');
  if (framing !== undefined && relay.replay !== undefined) return relay.replay(reply, body, charged);
  return relay.writeReply(reply, body, charged);
}

/**
 * Takes in a whole reply, reads its usage and passes it on as its relay says: byte for byte, or translated. Nothing is sent before all has
 * arrived, so every failure is still an HTTP status.
 * @param expected false when a stream was asked for, the upstream answered otherwise and the relay cannot make a stream of it: then only an
 * error can be inside
 */
export function createWholeReply<Piece>(
  context: ExchangeContext<Piece>,
  flow: UpstreamFlow,
  headers: Readonly<Record<string, string>>,
  expected: boolean,
): ReplyIntake {
  const { limits, observer, relay, target, sink } = context;
  const complete = (body: Buffer, fail: (error: GatewayError) => void): void => {
    let reply: unknown;
    try {
      reply = relay.parse === undefined ? parseJson(withoutByteOrderMark(body)) : relay.parse(body);
    } catch (cause) {
      return fail(cause instanceof GatewayError ? cause : invalidReply(context, headers, body.length, cause));
    }
    const report = relay.readReply(reply);
    if (report.error !== undefined) {
      return fail(describeErrorInReply(report.error, target));
    }
    if (!expected) return fail(invalidReply(context, headers, body.length));
    // Before the call is settled: what can still go wrong must not settle it a second time.
    const written = writeReply(context, reply, body);
    const settle = (sent = written): void => {
      observer.firstContent();
      observer.settled({ end: 'finished', complete: true, report }, () => {
        if (Buffer.isBuffer(sent)) sink.answer(200, headers, sent);
        else sink.takeWhole(headers, sent);
      });
    };
    const kept = relay.kept?.();
    if (kept === undefined) settle();
    else void kept.then((instead) => settle(instead ?? undefined));
  };
  return createCollectedReply(context, flow, {
    bytesMax: limits.replyBytesMax,
    tooLarge: `the reply is larger than ${limits.replyBytesMax} bytes; ask for a stream`,
    endWhenLeft: 'client-left',
    begun: relay.begun,
    complete,
  });
}
