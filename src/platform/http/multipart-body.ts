import { randomBytes } from 'node:crypto';

import type { StreamedBody } from './upstream-connection.ts';

/** One part of a form. */
export type MultipartPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly filename: string; readonly type: string; readonly content: StreamedBody };

/** A form that is read while it is sent, and its content type. */
export type MultipartBody = { readonly contentType: string; readonly body: StreamedBody };

const boundaryBytes = 18;

/** Escapes a name as browsers do: only characters that would end the name or the line are percent-encoded. */
function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/** A line end in a media type would begin another header. */
function cleanType(type: string): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w"./+-]+)*$/.test(type) ? type : 'application/octet-stream';
}

/**
 * Writes a form as multipart/form-data. Its length is known before any file is read. The boundary is random, so that no
 * content can contain it.
 */
export function encodeMultipart(parts: readonly MultipartPart[]): MultipartBody {
  const boundary = `weir-${randomBytes(boundaryBytes).toString('hex')}`;
  const pieces: (Buffer | StreamedBody)[] = [];
  for (const part of parts) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${escapeName(part.name)}"`;
    if ('value' in part) {
      pieces.push(Buffer.from(`${head}\r\n\r\n${part.value}\r\n`));
      continue;
    }
    const type = `content-type: ${cleanType(part.type)}`;
    pieces.push(Buffer.from(`${head}; filename="${escapeName(part.filename)}"\r\n${type}\r\n\r\n`), part.content, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  const bytes = pieces.reduce((sum, piece) => sum + ('read' in piece ? piece.bytes : piece.length), 0);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: { bytes, read: () => readAll(pieces) } };
}

async function* readAll(pieces: readonly (Buffer | StreamedBody)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if ('read' in piece) yield* piece.read();
    else yield piece;
  }
}
