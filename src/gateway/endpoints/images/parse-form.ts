import { Busboy, type BusboyHeaders } from '@fastify/busboy';

import type { FormFile, FormText } from '../../../dialects/openai-images/read-edit-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { followDeclaredTypes } from '../../../platform/http/declared-types.ts';

/** A form, its fields and files in their order. */
export type ParsedForm = { readonly texts: readonly FormText[]; readonly files: readonly FormFile[] };

// More than the interface has of each, so that what is too many is refused by name.
const limits = { files: 32, fields: 128, parts: 160, fieldSize: 1024 * 1024, fieldNameSize: 200, headerPairs: 64, headerSize: 16_384 };
const filenameCharactersMax = 255;

/**
 * Takes a form apart that is there as a whole. Files without a filename are refused: they would be read as text and come to harm.
 * @throws GatewayError
 */
export function parseForm(bytes: Buffer, contentType: string): Promise<ParsedForm> {
  const texts: FormText[] = [];
  const files: FormFile[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<ParsedForm>();
  const parser = createParser({ 'content-type': contentType });
  const declaredOf = followDeclaredTypes(parser);
  parser.on('file', (name, stream, filename, _encoding, toldType) => {
    const mediaType = (declaredOf(toldType) ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => void pieces.push(piece));
    stream.on('end', () => {
      const content = Buffer.concat(pieces);
      files.push({
        name,
        filename: cleanName(filename ?? '', name),
        mediaType,
        content: { bytes: content.length, read: () => once(content) },
      });
    });
  });
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated) reject(invalid(name.slice(0, 80), 'the field is too long'));
    else if (/^(?:image(?:\[\d{0,3}\])?|mask)$/.test(name)) reject(invalid(name, 'expected a file with a filename, such as picture.png'));
    else texts.push({ name, value });
  });
  parser.on('error', (cause) => reject(new GatewayError('body_incomplete', 'the body is no valid multipart/form-data', { cause })));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => reject(invalid('image', 'the form has too many parts')));
  parser.on('finish', () => resolve({ texts, files }));
  parser.end(bytes);
  return promise;
}

function createParser(headers: BusboyHeaders): InstanceType<typeof Busboy> {
  try {
    return new Busboy({ headers, limits, isPartAFile: (_name, _type, filename) => filename !== undefined });
  } catch (cause) {
    throw new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary', { cause });
  }
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid '${param}': ${problem}.`, { param });
}

/** A name without places of directories, and without characters that are not seen. */
function cleanName(filename: string, otherwise: string): string {
  const name = (filename.toWellFormed().split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  return Array.from(name).slice(-filenameCharactersMax).join('') || otherwise;
}

// oxlint-disable-next-line typescript/require-await -- bodies are read by `for await`
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
