import type { MediaSource } from '../inference/inference-request.ts';
import { meaningOf } from '../platform/json/json-readers.ts';
import { readDataUrl } from './data-url.ts';

// Media formats that chat completions and Responses share.

/** Reads the URL of a file: a data URL contains the file itself. */
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

/**
 * The type of a document by its file name. Without a known extension it is a PDF, the first kind that the vendor
 * accepted.
 */
function mediaTypeOfFilename(filename: string | undefined): string {
  return meaningOf(filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase(), typesByExtension) ?? 'application/pdf';
}

/**
 * Reads `file_data`: a data URL, or base64 alone, whose type the file name gives. Plain text becomes text, because
 * every dialect can express it and few accept it as a file.
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

/** The vendor's name of an audio format. Undefined for formats that it does not accept. */
export const audioFormatOf = (mediaType: string): string | undefined => meaningOf(mediaType.toLowerCase(), audioFormats);

/** The media type of the vendor's name of an audio format. */
export const mediaTypeOfAudioFormat = (format: string): string => (format === 'mp3' ? 'audio/mpeg' : `audio/${format}`);
