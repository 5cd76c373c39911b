import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import type { ReplyRelay, StreamRelay } from '../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { openAudioStream } from './audio-stream.ts';
import { describeRefusal } from './describe-refusal.ts';

/** A call at its target. */
export type RelayedAudio = { readonly callId: string; readonly clock: Pick<Clock, 'nowMs'>; readonly target: Target };

type SoundReplies = Pick<ReplyRelay, 'bytes' | 'parse' | 'readReply' | 'writeReply'> &
  Pick<StreamRelay, 'kept'> & {
    readonly stream: boolean;
    /** The form of a reply that is not a stream. */
    readonly shape: 'whole' | 'bytes';
    /** The content type for the client, given that of the upstream. */
    readonly typeOf: (type: string) => string;
  };

const typeOf = (headers: ReplyHeaders): string => String(headers['content-type'] ?? '');

/** Creates the relay of an audio reply. */
export function createAudioRelay({ callId, clock, target }: RelayedAudio, replies: SoundReplies): ReplyRelay {
  const { stream, shape, kept, ...reading } = replies;
  const { upstream } = target;
  // A server without events answers as if the request did not ask for them.
  const isStream = (headers: ReplyHeaders): boolean => stream && typeOf(headers).startsWith('text/event-stream');
  return {
    ...reading,
    upstreamFraming: stream ? 'sse' : undefined,
    shapeOf: (headers) => (isStream(headers) ? 'stream' : shape),
    replyHeaders: (headers) => ({
      ...(isStream(headers) && { 'cache-control': 'no-cache' }),
      ...passReplyHeaders(upstream, headers, callId),
      'content-type': isStream(headers) ? 'text/event-stream; charset=utf-8' : replies.typeOf(typeOf(headers)),
    }),
    openStream: () => openAudioStream(kept),
    readError: () => undefined,
    readRefusal: (answer) => describeRefusal(answer, target, clock.nowMs()),
  };
}

/**
 * Whether bytes begin like JSON or HTML: an error that a client would store as a broken audio file. Only raw samples
 * may begin like this.
 */
function isWritten(piece: Buffer): boolean {
  return /^\s*(?:\{\s*["}]|<[!?a-z])/i.test(piece.toString('latin1', 0, 64));
}

/** The error of a reply that should be audio and is not. */
export function checkSound(first: Buffer | undefined, headers: ReplyHeaders, mayBeAnything: boolean): GatewayError | undefined {
  const type = typeOf(headers);
  if (first === undefined)
    return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply has no audio.");
  if (!/json|html|text\//i.test(type) && (mayBeAnything || !isWritten(first))) return undefined;
  const message = 'Upstream connection error: the model service did not answer with audio.';
  return new GatewayError('upstream_invalid_reply', message, { internal: `it answered with ${type.slice(0, 100)}` });
}
