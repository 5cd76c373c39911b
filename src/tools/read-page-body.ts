import { PassThrough, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import type { Dispatcher } from 'undici';

import { FetchMediaError } from '../platform/http/fetch-media-error.ts';
import type { PageType, RawPage } from './extract-page.ts';

const htmlTypes = /^(?:text\/html|application\/xhtml\+xml)$/;
const textTypes =
  /^(?:text\/(?!html).{1,60}|application\/(?:json|xml|yaml|x-yaml|javascript|[a-z0-9.+-]{1,60}\+(?:json|xml)|x-ndjson|toml|rtf))$/;
const unknownTypes = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** Compressions that servers use without a request. */
const decompressors: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/**
 * Reads the body of a page. Only the beginning of texts that are longer than `bytesMax` after decompression is read;
 * longer documents are refused. Rejects with FetchMediaError `wrong-type` or `too-large`, or with the error of the
 * stream.
 */
export async function readPageBody(answer: Dispatcher.ResponseData, bytesMax: number): Promise<RawPage> {
  const { mediaType, charset } = readContentType(answer.headers['content-type']);
  const { bytes, whole } = await readUpTo(decompress(answer), bytesMax);
  if (bytes.length === 0) throw new FetchMediaError('wrong-type', 'the page behind the URL is empty');
  if (!whole && mediaType === 'pdf') throw new FetchMediaError('too-large', `the document behind the URL is larger than ${bytesMax} bytes`);
  return { bytes, mediaType, charset };
}

function readContentType(header: string | readonly string[] | undefined): {
  readonly mediaType: PageType;
  readonly charset: string | undefined;
} {
  const [essence = '', ...parameters] = (typeof header === 'string' ? header : '').split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]{1,40})"?\s*$/i.exec(parameter)?.[1])
    .find((name) => name !== undefined);
  return { mediaType: typeOf(essence.trim().toLowerCase()), charset };
}

function typeOf(essence: string): PageType {
  if (htmlTypes.test(essence)) return 'html';
  if (textTypes.test(essence)) return 'text';
  if (essence === 'application/pdf') return 'pdf';
  if (unknownTypes.has(essence)) return 'unknown';
  throw new FetchMediaError('wrong-type', 'the content of the URL is not a page, a text or a PDF');
}

function decompress({ headers, body }: Dispatcher.ResponseData): Readable {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || encoding === '') return body;
  const open = Object.hasOwn(decompressors, encoding) ? decompressors[encoding] : undefined;
  if (open === undefined) throw new FetchMediaError('wrong-type', 'the page behind the URL uses a compression that was not requested');
  const opened = open();
  const readable = new PassThrough();
  const fail = (error: Error): void => void readable.destroy(error);
  body.on('error', fail).pipe(opened).on('error', fail).pipe(readable);
  readable.once('close', () => body.destroy());
  return readable;
}

async function readUpTo(stream: Readable, bytesMax: number): Promise<{ readonly bytes: Buffer; readonly whole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    chunks.push(chunk);
    // Leaving the loop destroys the stream, so that the rest is not received.
    if (length > bytesMax) break;
  }
  return { bytes: Buffer.concat(chunks, length).subarray(0, bytesMax), whole: length <= bytesMax };
}
