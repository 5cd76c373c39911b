import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Pace } from './steering.ts';
import { bytesOfPiece, type Piece, type WireAction, type WireReply } from './wire-reply.ts';

/** The progress of the writer. */
export type WriteObserver = {
  readonly onHeaders: () => void;
  /** The pieces before `piecesWritten` have been handed to the connection, with `tokensWritten` output tokens. */
  readonly onProgress: (piecesWritten: number, tokensWritten: number) => void;
  /**
   * `finished`: the whole body and its proper end. `broken-off`: ended by a fault. `client-closed`: the peer
   * disconnected before the end.
   */
  readonly onEnd: (how: 'finished' | 'broken-off' | 'client-closed') => void;
};

const batchCharactersMax = 65_536;
const fillChunk = Buffer.alloc(65_536, 'x');
/** Time for bytes to be sent before a reset, which would discard them. */
const settleMs = 10;
const dripTickMs = 50;
/** A writer that is later than this was stalled, or was not read. */
const lateMsMax = 250;

/** Writes a reply with its faults at its pace. Resolves when nothing more will be written; never rejects. */
export async function writeReply(response: ServerResponse, wire: WireReply, pace: Pace, observer: WriteObserver): Promise<void> {
  // The usual reply has no wait and is written at once, without a promise or a timer. A reply that took time may find
  // its client disconnected.
  if (!response.destroyed && isPlain(wire, pace)) {
    writeAtOnce(response, wire, observer);
    return;
  }
  await writeSlowly(response, wire, pace, observer);
}

function isPlain(wire: WireReply, pace: Pace): boolean {
  const isPaced = pace.tokensPerSecond > 0 || pace.firstTokenMs > 0 || pace.chunkBytes > 0;
  const isFaulted =
    wire.beforeHeaders !== undefined ||
    wire.actions !== undefined ||
    wire.encoding !== undefined ||
    wire.bytesPerSecond !== undefined ||
    wire.rawBytes !== undefined ||
    wire.framing === 'eof';
  const isText = wire.pieces.every((piece) => typeof piece === 'string');
  return !isPaced && !isFaulted && isText && lengthOf(wire.pieces) <= batchCharactersMax;
}

function writeAtOnce(response: ServerResponse, wire: WireReply, observer: WriteObserver): void {
  const body = wire.pieces.length === 1 ? textOf(wire.pieces[0]) : wire.pieces.map(textOf).join('');
  sendHead(response, wire, body);
  observer.onHeaders();
  observer.onProgress(wire.pieces.length, sum(wire.tokens));
  response.once('close', () => observer.onEnd(response.writableFinished ? 'finished' : 'client-closed'));
  response.end(body);
}

async function writeSlowly(response: ServerResponse, wire: WireReply, pace: Pace, observer: WriteObserver): Promise<void> {
  const connection = createConnection(response);
  try {
    const how = await play(connection, wire, pace, observer);
    observer.onEnd(how);
  } catch (error) {
    // The connection can fail at any write; whatever the reason, the client no longer reads.
    response.destroy(error instanceof Error ? error : undefined);
    observer.onEnd('client-closed');
  }
}

type Ending = 'finished' | 'broken-off' | 'client-closed';

async function play(connection: Connection, wire: WireReply, pace: Pace, observer: WriteObserver): Promise<Ending> {
  const { response } = connection;
  if (wire.beforeHeaders !== undefined) {
    const ending = await act(connection, wire.beforeHeaders);
    if (ending !== undefined) return ending;
  }
  if (wire.rawBytes !== undefined) return await writeRaw(connection, wire.rawBytes, observer);
  sendHead(response, wire, undefined);
  response.flushHeaders();
  observer.onHeaders();
  const writer = createPieceWriter(connection, wire, pace);
  let startMs = performance.now();
  let tokens = 0;
  for (let index = 0; index <= wire.pieces.length; index++) {
    const action = wire.actions?.get(index);
    if (action !== undefined) {
      await writer.flush();
      const ending = await act(connection, action);
      if (ending !== undefined) return ending;
    }
    const piece = wire.pieces[index];
    if (piece === undefined) break;
    const lateMs = (): number => performance.now() - startMs - dueMs(wire, pace, index, tokens);
    await connection.sleep(-lateMs());
    if (connection.isClosed()) return 'client-closed';
    // Overdue output is not sent at once: the rest follows at its pace.
    if (lateMs() > lateMsMax) startMs += lateMs();
    await writer.write(piece);
    if (connection.isClosed()) return 'client-closed';
    tokens += wire.tokens[index] ?? 0;
    observer.onProgress(index + 1, tokens);
  }
  await writer.flush();
  return await finish(connection);
}

/**
 * When a piece is due, in milliseconds after the headers: content after the first-token wait and the time of its
 * tokens.
 */
function dueMs(wire: WireReply, pace: Pace, index: number, tokensBefore: number): number {
  if (index < wire.firstContent) return 0;
  return pace.firstTokenMs + (pace.tokensPerSecond > 0 ? (tokensBefore * 1000) / pace.tokensPerSecond : 0);
}

async function act(connection: Connection, action: WireAction): Promise<Ending | undefined> {
  if (action.type === 'wait') {
    await connection.sleep(action.ms);
    if (connection.isClosed()) return 'client-closed';
    if (action.afterwards === 'go-on') return undefined;
  }
  await connection.sleep(settleMs);
  if (connection.isClosed()) return 'client-closed';
  const socket = connection.response.socket;
  if (action.type === 'fin') {
    await new Promise<void>((resolve) => (socket === null ? resolve() : socket.end(resolve)));
    socket?.destroySoon();
  } else {
    socket?.resetAndDestroy();
  }
  return 'broken-off';
}

async function writeRaw(connection: Connection, bytes: Uint8Array, observer: WriteObserver): Promise<Ending> {
  const socket = connection.response.socket;
  if (socket === null) return 'client-closed';
  observer.onHeaders();
  await new Promise<void>((resolve) => socket.end(bytes, resolve));
  return 'broken-off';
}

async function finish(connection: Connection): Promise<Ending> {
  const { response } = connection;
  response.end();
  if (!response.writableFinished && !connection.isClosed()) await Promise.race([once(response, 'finish'), connection.closed]);
  return response.writableFinished ? 'finished' : 'client-closed';
}

type PieceWriter = { readonly write: (piece: Piece) => Promise<void>; readonly flush: () => Promise<void> };

/** Writes pieces so that the peer gets them separately: by frames, by a size in bytes, or inside characters. */
function createPieceWriter(connection: Connection, wire: WireReply, pace: Pace): PieceWriter {
  if (wire.encoding === 'gzip') return createGzipWriter(connection);
  const bytesPerSecond = wire.bytesPerSecond;
  let rest = Buffer.alloc(0);
  const send = async (bytes: Buffer): Promise<void> => {
    if (bytesPerSecond !== undefined) await drip(connection, bytes, bytesPerSecond);
    else if (wire.encoding === 'split-utf8') for (const part of splitInsideCharacters(bytes)) await sendApart(connection, part);
    else if (pace.chunkBytes >= 1) await sendApart(connection, bytes);
    else await connection.send(bytes);
  };
  return {
    async write(piece) {
      if (typeof piece !== 'string' && !(piece instanceof Uint8Array)) return await fill(connection, piece.fillBytes);
      const bytes = toBuffer(piece);
      if (pace.chunkBytes < 1) return await send(bytes);
      rest = Buffer.concat([rest, bytes]);
      let start = 0;
      for (; rest.length - start >= pace.chunkBytes && !connection.isClosed(); start += pace.chunkBytes) {
        await send(rest.subarray(start, start + pace.chunkBytes));
      }
      rest = rest.subarray(start);
    },
    async flush() {
      if (rest.length > 0) await send(rest);
      rest = Buffer.alloc(0);
    },
  };
}

function createGzipWriter(connection: Connection): PieceWriter {
  const parts: Buffer[] = [];
  return {
    write(piece) {
      if (typeof piece === 'string' || piece instanceof Uint8Array) parts.push(toBuffer(piece));
      return Promise.resolve();
    },
    async flush() {
      const bytes = Buffer.concat(parts.splice(0));
      if (bytes.length > 0) await connection.send(gzipSync(bytes));
    },
  };
}

/**
 * The HTTP server joins writes of one turn of the event loop, so pieces that must arrive separately are written in
 * separate turns.
 */
async function sendApart(connection: Connection, bytes: Buffer): Promise<void> {
  await connection.send(bytes);
  await new Promise((resolve) => setImmediate(resolve));
}

async function fill(connection: Connection, bytes: number): Promise<void> {
  for (let left = bytes; left > 0 && !connection.isClosed(); left -= fillChunk.length) await connection.send(fillChunk.subarray(0, left));
}

async function drip(connection: Connection, bytes: Buffer, bytesPerSecond: number): Promise<void> {
  const step = Math.max(1, Math.floor((bytesPerSecond * dripTickMs) / 1000));
  for (let start = 0; start < bytes.length && !connection.isClosed(); start += step) {
    await connection.send(bytes.subarray(start, start + step));
    await connection.sleep((step * 1000) / bytesPerSecond);
  }
}

/** Cuts after the first byte of every multi-byte character. */
function splitInsideCharacters(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let index = 1; index < bytes.length; index++) {
    const isInside = ((bytes[index] ?? 0) & 0xc0) === 0x80;
    const followsLead = ((bytes[index - 1] ?? 0) & 0xc0) === 0xc0;
    if (!isInside || !followsLead) continue;
    parts.push(bytes.subarray(start, index));
    start = index;
  }
  parts.push(bytes.subarray(start));
  return parts;
}

/** A response with waits that end when the peer disconnects. */
type Connection = {
  readonly response: ServerResponse;
  readonly isClosed: () => boolean;
  readonly closed: Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Writes and waits until the connection accepts more, or is closed. */
  readonly send: (bytes: Buffer) => Promise<void>;
};

function createConnection(response: ServerResponse): Connection {
  let isClosed = response.destroyed || response.socket === null;
  let wake: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      isClosed = true;
      wake?.();
      resolve();
    });
  });
  /** Waits for the event that `start` arranges, or for the peer's disconnect. One wait at a time. */
  const wait = (start: (resolve: () => void) => () => void): Promise<void> =>
    new Promise((resolve) => {
      const arranged: { cancel?: () => void } = {};
      const done = (): void => {
        arranged.cancel?.();
        wake = undefined;
        resolve();
      };
      wake = done;
      arranged.cancel = start(done);
    });
  return {
    response,
    isClosed: () => isClosed,
    closed,
    async sleep(ms) {
      if (ms < 1 || isClosed) return;
      await wait((resolve) => {
        const timer = setTimeout(resolve, ms);
        return () => clearTimeout(timer);
      });
    },
    async send(bytes) {
      if (isClosed || response.write(bytes)) return;
      await wait((resolve) => {
        response.once('drain', resolve);
        return () => response.off('drain', resolve);
      });
    },
  };
}

function sendHead(response: ServerResponse, wire: WireReply, body: string | undefined): void {
  const headers: Record<string, string | number | string[]> = {};
  for (const [name, value] of Object.entries(wire.headers)) headers[name] = typeof value === 'string' ? value : [...value];
  if (wire.framing === 'length') {
    const bytes = wire.declaredBytes ?? (body === undefined ? bytesOf(wire.pieces) : Buffer.byteLength(body));
    headers['content-length'] = bytes;
  }
  if (wire.framing === 'eof') {
    // The end of the connection is the only end of such a body.
    response.shouldKeepAlive = false;
    response.removeHeader('transfer-encoding');
  }
  response.writeHead(wire.status, headers);
}

function lengthOf(pieces: readonly Piece[]): number {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? piece.length : bytesOfPiece(piece);
  return length;
}

function bytesOf(pieces: readonly Piece[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += bytesOfPiece(piece);
  return bytes;
}

/** The bytes of a piece, without a copy if it already holds bytes. */
function toBuffer(piece: string | Uint8Array): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}

function textOf(piece: Piece | undefined): string {
  return typeof piece === 'string' ? piece : '';
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
