import type { MediaSource } from '../inference/inference-request.ts';
import { meaningOf } from '../platform/json/json-readers.ts';
import { readDataUrl } from './data-url.ts';

// What chat completions and Responses say alike of media: one vendor made both.

/** Reads the address of a medium: a data URL holds the medium itself. */
export function readMediaUrl(url: string): MediaSource {
  const inline = readDataUrl(url);
  return inline === undefined ? { kind: 'url', url } : { kind: 'inline', ...inline };
}

const typesByExtension: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

/** The type of a document by its name. A document without a telling name is a PDF: the first kind that the vendor took. */
function mediaTypeOfFilename(filename: string | undefined): string {
  return meaningOf(filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase(), typesByExtension) ?? 'application/pdf';
}

/**
 * Reads `file_data`: a data URL, or base64 alone, whose type its name tells. Plain text becomes text: every dialect can say it, and few
 * take it as a file.
 */
export function readFileData(data: string, filename: string | undefined): MediaSource {
  const inline = readDataUrl(data) ?? { mediaType: mediaTypeOfFilename(filename), data };
  if (inline.mediaType === 'text/plain') return { kind: 'text', text: Buffer.from(inline.data, 'base64').toString() };
  return { kind: 'inline', ...inline };
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
  'audio/x-wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** The vendor's word for a sound; undefined for kinds that it does not take. */
export const audioFormatOf = (mediaType: string): string | undefined => meaningOf(mediaType.toLowerCase(), audioFormats);

/** The type of a sound by the vendor's word for it. */
export const mediaTypeOfAudioFormat = (format: string): string => (format === 'mp3' ? 'audio/mpeg' : `audio/${format}`);
