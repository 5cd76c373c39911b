import type { Json, MediaReply, SimulatedReply } from './simulated-vendor.ts';

/** A part of a reply's body: unchanged text or bytes, or a number of filler bytes. */
export type Piece = string | Uint8Array | { readonly fillBytes: number };

/** Length of a piece in bytes. */
export function bytesOfPiece(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  return piece instanceof Uint8Array ? piece.length : piece.fillBytes;
}

/** Actions on the connection instead of, or between, writing pieces. */
export type WireAction =
  /** Silence for a while, then a reset, or a normal continuation. */
  | { readonly type: 'wait'; readonly ms: number; readonly afterwards: 'go-on' | 'reset' }
  /** RST: the peer sees a reset connection. */
  | { readonly type: 'reset' }
  /** FIN without the end that the framing of the body promised. */
  | { readonly type: 'fin' };

/** A reply as it is sent, after faults: the input of `writeReply`. */
export type WireReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly pieces: readonly Piece[];
  /** Output tokens that each piece delivers. */
  readonly tokens: readonly number[];
  /** Index of the first piece with generated content. */
  readonly firstContent: number;
  readonly isStream: boolean;
  /** How the end of the body is marked: by chunks, by the length, or (`eof`) only by the end of the connection. */
  readonly framing: 'chunked' | 'length' | 'eof';
  /** A false content-length. */
  readonly declaredBytes?: number;
  readonly beforeHeaders?: WireAction;
  /** Actions before the piece with that index; the index after the last piece is before the end of the body. */
  readonly actions?: ReadonlyMap<number, WireAction>;
  /** `gzip` compresses the body; `split-utf8` cuts the byte stream inside every character of several bytes. */
  readonly encoding?: 'gzip' | 'split-utf8';
  readonly bytesPerSecond?: number;
  /** Bytes written to the socket in place of a reply of the HTTP server, for heads that it would refuse to write. */
  readonly rawBytes?: Uint8Array;
};

export function toWireReply(reply: SimulatedReply | MediaReply): WireReply {
  if (reply.type === 'media') {
    const tokens = reply.frameTokens ?? reply.frames.map(() => 0);
    const isStream = reply.frameTokens !== undefined;
    const { status, headers, frames } = reply;
    return { status, headers, pieces: frames, tokens, firstContent: 0, isStream, framing: isStream ? 'chunked' : 'length' };
  }
  if (reply.type === 'stream') {
    return {
      status: 200,
      headers: reply.headers,
      pieces: reply.frames,
      tokens: reply.frameTokens,
      firstContent: reply.firstContentFrame,
      isStream: true,
      framing: 'chunked',
    };
  }
  return {
    status: reply.status,
    headers: reply.headers,
    pieces: [reply.body],
    tokens: [reply.plan?.usage.outputTokens ?? 0],
    firstContent: 0,
    isStream: false,
    framing: 'length',
  };
}

/** A whole JSON reply, for refusals. */
export function toJsonReply(status: number, body: Json, headers: Readonly<Record<string, string>> = {}): WireReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    pieces: [JSON.stringify(body)],
    tokens: [0],
    firstContent: 0,
    isStream: false,
    framing: 'length',
  };
}
