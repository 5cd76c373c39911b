import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, createZstdDecompress, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { GatewayError } from '../inference/gateway-error.ts';
import type { JsonValue } from '../platform/json/json-value.ts';
import { joinInSlices } from '../platform/join-in-slices.ts';
import { parseJsonInSlices } from '../platform/json/parse-in-slices.ts';
import { parseJson } from '../platform/json/parse-json.ts';
import { JsonProblemError } from '../platform/json/scan-json.ts';
import { createSealer, deriveKey } from '../platform/seal/sealer.ts';
import { WorkSlices } from '../platform/yield-queue.ts';

/** Whose body it is and which: what is sealed for one place opens for no other. */
type BodyName = readonly [kind: string, userName: string, id: string, ...rest: readonly string[]];

/** Makes bodies unreadable to whoever has only the database. */
export type BodySealer = {
  /** A JSON text, or the bytes of one, compressed where that pays. */
  readonly seal: (name: BodyName, text: string | Buffer) => Promise<Uint8Array<ArrayBuffer>>;
  /** What was sealed. Rejects with GatewayError `responses_unavailable` where it was sealed under another key or for another place. */
  readonly open: (name: BodyName, sealed: Uint8Array) => Promise<JsonValue>;
  /** Under what an item of a user is looked for: says nothing of its id, and is short and of plain letters whatever that is. */
  readonly itemKey: (userName: string, itemId: string) => string;
};

/** Shorter bodies gain less than the work is worth. */
const compressedFromBytes = 512;
/** Larger ones are worked on beside the thread that serves. */
const asideFromBytes = 128 * 1024;
const pieceBytes = 256 * 1024;
const plainForm = 0;
const zstdForm = 1;
/** What was sealed was written here. */
const unlimited = { depthMax: Infinity, tokensMax: Infinity };
/** The fast levels: bodies are texts, which already shrink to a third there. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compressAside = promisify(zstdCompress);

/** @param key the operator's 32 bytes, of which keys of its own are derived */
export function createBodySealer(key: Uint8Array): BodySealer {
  const sealer = createSealer(deriveKey(key, 'weir conversations: sealing'));
  const itemsKey = deriveKey(key, 'weir conversations: items');
  return {
    seal: async (name, text) => {
      const packed = await pack(typeof text === 'string' ? Buffer.from(text) : text);
      if (packed.length < asideFromBytes) return sealer.seal(spell(name), packed);
      const slices = new WorkSlices();
      return await sealer.sealInSlices(spell(name), packed, () => slices.yield());
    },
    open: async (name, sealed) => {
      const packed = sealer.open(spell(name), sealed);
      if (packed === undefined) {
        const internal = `the stored ${name[0]} of ${name[2]} was sealed under another key, or is damaged`;
        throw new GatewayError('responses_unavailable', 'what is stored under this id cannot be read', { internal });
      }
      const bytes = await unpack(packed);
      return bytes.length < asideFromBytes ? parseJson(bytes) : await parseLarge(bytes);
    },
    itemKey: (userName, itemId) =>
      createHmac('sha256', itemsKey)
        .update(spell(['item', userName, itemId]))
        .digest('base64url')
        .slice(0, 22),
  };
}

async function pack(bytes: Buffer): Promise<Buffer> {
  if (bytes.length < compressedFromBytes) return Buffer.concat([Buffer.of(plainForm), bytes]);
  const compressed = bytes.length < asideFromBytes ? zstdCompressSync(bytes, options) : await compressAside(bytes, options);
  return compressed.length < bytes.length ? Buffer.concat([Buffer.of(zstdForm), compressed]) : Buffer.concat([Buffer.of(plainForm), bytes]);
}

/** What an upstream said may have a key that is longer than those of requests: that is read at once. */
async function parseLarge(bytes: Buffer): Promise<JsonValue> {
  try {
    return await parseJsonInSlices(bytes, unlimited);
  } catch (error) {
    if (error instanceof JsonProblemError) return parseJson(bytes);
    throw error;
  }
}

async function unpack(packed: Buffer): Promise<Buffer> {
  const bytes = packed.subarray(1);
  if (packed[0] !== zstdForm) return bytes;
  return bytes.length < asideFromBytes ? zstdDecompressSync(bytes) : await decompressAside(bytes);
}

/** In large pieces, joined in steps: zlib's own would come in thousands and be joined at once. */
async function decompressAside(bytes: Buffer): Promise<Buffer> {
  const stream = createZstdDecompress({ chunkSize: pieceBytes });
  stream.end(bytes);
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
  }
  return await joinInSlices(pieces, length);
}

/** Lengths keep "a" + "bc" and "ab" + "c" apart, and UTF-16 keeps half surrogate pairs apart. */
function spell(name: BodyName): Buffer {
  return Buffer.from(name.map((part) => `${part.length}:${part}`).join(''), 'utf16le');
}
