import type { JobContext } from '../../../platform/isolation/isolated-job.ts';
import { chunkText } from '../chunk-text.ts';
import { toTerms } from '../index-terms.ts';
import { ExtractionError } from './extraction-error.ts';
import type { ExtractedChunks, ExtractionReply, ExtractionRequest } from './extraction-protocol.ts';
import type * as Documents from './read-documents.ts';
import { cleanText, decodeText } from './read-text.ts';
import { docxType, sniffMediaType } from './sniff-media-type.ts';

const readDocuments = (): Promise<typeof Documents> => import('./read-documents.ts');

/** Loads the readers of documents only when they are needed, because they are large. */
export async function prepare({ bytes, filename }: ExtractionRequest): Promise<void> {
  const mediaType = sniffMediaType(bytes, filename);
  if (!documentTypes.has(mediaType)) return;
  const { preparePdf } = await readDocuments();
  if (mediaType === 'application/pdf') await preparePdf();
}

const documentTypes = new Set(['application/pdf', docxType, 'text/html']);

/** How many chunks are sent at a time, so that the receiver can yield in between. */
const chunksAtOnce = 200;

/**
 * Reads a file and splits its text. Chunks are sent in parts. The reply contains their number, or the problem of the
 * file.
 */
export async function run(request: ExtractionRequest, { ask }: JobContext<ExtractedChunks, void>): Promise<ExtractionReply> {
  const { bytes, filename, chunking, charactersMax } = request;
  let chunks: readonly string[];
  try {
    const text = cleanText(await readFileText(bytes, filename, charactersMax));
    if (text.length > charactersMax)
      throw new ExtractionError('invalid_file', `The file has more than ${charactersMax} characters of text.`);
    chunks = chunkText(text, chunking);
    if (chunks.length === 0) throw new ExtractionError('invalid_file', 'The file has no text.');
  } catch (error) {
    // Readers throw any error. Its message may name paths of this program, so it is not passed on.
    const { code, message } =
      error instanceof ExtractionError ? error : new ExtractionError('invalid_file', 'The file is damaged or cannot be read.');
    return { error: { code, message } };
  }
  for (let at = 0; at < chunks.length; at += chunksAtOnce)
    await ask(chunks.slice(at, at + chunksAtOnce).map((chunk) => ({ text: chunk, terms: toTerms(chunk) })));
  return { chunks: chunks.length };
}

async function readFileText(bytes: Uint8Array, filename: string, charactersMax: number): Promise<string> {
  const mediaType = sniffMediaType(bytes, filename);
  if (mediaType === 'application/pdf') return await (await readDocuments()).readPdf(bytes, charactersMax);
  if (mediaType === docxType) return await (await readDocuments()).readDocx(bytes);
  if (mediaType === 'text/html') return (await readDocuments()).readHtml(decodeText(bytes));
  if (/^(?:image|audio|video)\/|octet-stream|\/zip|gzip/.test(mediaType))
    throw new ExtractionError('unsupported_file', 'Files of this type contain no searchable text.');
  return decodeText(bytes);
}
