import { parentPort } from 'node:worker_threads';

import { chunkText } from '../chunk-text.ts';
import { toTerms } from '../index-terms.ts';
import { ExtractionError } from './extraction-error.ts';
import type { ExtractionReply, ExtractionRequest } from './extraction-protocol.ts';
import { cleanText, decodeText } from './read-text.ts';
import { docxType, sniffMediaType } from './sniff-media-type.ts';

/** The thread in which files are read: whatever a hostile one does to its reader, it does it here. */
async function extract({ bytes, filename, chunking, charactersMax }: ExtractionRequest): Promise<ExtractionReply> {
  try {
    const text = cleanText(await readFileText(bytes, filename, charactersMax));
    if (text.length > charactersMax)
      throw new ExtractionError('invalid_file', `The file has more than ${charactersMax} characters of text.`);
    const chunks = chunkText(text, chunking).map((chunk) => ({ text: chunk, terms: toTerms(chunk) }));
    if (chunks.length === 0) throw new ExtractionError('invalid_file', 'The file has no text.');
    return { chunks };
  } catch (error) {
    // Readers throw whatever they like; their words are about a file that its owner knows, but may name places in this program.
    const { code, message } =
      error instanceof ExtractionError ? error : new ExtractionError('invalid_file', 'The file is damaged or cannot be read.');
    return { error: { code, message } };
  }
}

async function readFileText(bytes: Uint8Array, filename: string, charactersMax: number): Promise<string> {
  const mediaType = sniffMediaType(bytes, filename);
  // The readers of documents are large: a thread that reads texts does without them.
  if (mediaType === 'application/pdf') return await (await import('./read-documents.ts')).readPdf(bytes, charactersMax);
  if (mediaType === docxType) return await (await import('./read-documents.ts')).readDocx(bytes);
  if (mediaType === 'text/html') return (await import('./read-documents.ts')).readHtml(decodeText(bytes));
  if (/^(?:image|audio|video)\/|octet-stream|\/zip|gzip/.test(mediaType))
    throw new ExtractionError('unsupported_file', 'Files of this type have no text that could be searched.');
  return decodeText(bytes);
}

parentPort?.on('message', (request: ExtractionRequest) => {
  void extract(request).then((reply) => parentPort?.postMessage(reply));
});
