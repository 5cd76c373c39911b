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

/** Identifies a body. A body that is sealed under one name opens under no other. */
type BodyName = readonly [kind: string, userName: string, id: string, ...rest: readonly string[]];

/** Encrypts bodies, so that access to the database alone does not reveal them. */
export type BodySealer = {
  /** Seals JSON, as text or bytes. Large bodies are compressed. */
  readonly seal: (name: BodyName, text: string | Buffer) => Promise<Uint8Array<ArrayBuffer>>;
  /** Opens a sealed body. Rejects with GatewayError `responses_unavailable` if the key or the name differs. */
  readonly open: (name: BodyName, sealed: Uint8Array) => Promise<JsonValue>;
  /** The key of a user's item in the store. It does not reveal the item's id, and is always short and alphanumeric. */
  readonly itemKey: (userName: string, itemId: string) => string;
};

/** Compression of shorter bodies gains too little. */
const compressedFromBytes = 512;
/** Larger bodies are compressed in a thread pool, not on the event loop. */
const asideFromBytes = 128 * 1024;
const pieceBytes = 256 * 1024;
const plainForm = 0;
const zstdForm = 1;
/** Opened bodies were written by this program, so no limits are needed. */
const unlimited = { depthMax: Infinity, tokensMax: Infinity };
/** A fast level, which already shrinks text to a third. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compressAside = promisify(zstdCompress);

/** @param key the operator's 32 bytes, from which separate keys are derived */
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
        throw new GatewayError('responses_unavailable', 'the object stored under this id cannot be read', { internal });
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

/** Replies of upstreams may contain keys that are longer than in requests; such a body is parsed in one step. */
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

/**
 * Decompresses into large pieces and joins them in slices. The default of zlib is thousands of pieces that are joined
 * at once.
 */
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

/** Encodes a name. Lengths distinguish "a" + "bc" from "ab" + "c", and UTF-16 preserves half surrogate pairs. */
function spell(name: BodyName): Buffer {
  return Buffer.from(name.map((part) => `${part.length}:${part}`).join(''), 'utf16le');
}
