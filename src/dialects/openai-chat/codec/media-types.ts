type Inline = { readonly mediaType: string; readonly data: string };

function unescapeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: the text is meant as it stands.
    return text;
  }
}

/** Takes a data URL apart. Undefined for what is none. Data that is not base64 becomes so. */
export function readDataUrl(url: string): Inline | undefined {
  const comma = url.indexOf(',');
  if (comma === -1 || url.slice(0, 5).toLowerCase() !== 'data:') return undefined;
  const [mediaType = '', ...attributes] = url.slice(5, comma).split(';');
  const data = url.slice(comma + 1);
  const isBase64 = attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64');
  return {
    mediaType: mediaType === '' ? 'text/plain' : mediaType.toLowerCase(),
    data: isBase64 ? data : Buffer.from(unescapeUrl(data)).toString('base64'),
  };
}

/** Writes a data URL. */
export const writeDataUrl = ({ mediaType, data }: Inline): string => `data:${mediaType};base64,${data}`;

const typesByExtension: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

/** The type of a document by its name. A document without a telling name is a PDF: the only kind that the vendor itself takes. */
export function mediaTypeOfFilename(filename: string | undefined): string {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase() ?? '';
  return (Object.hasOwn(typesByExtension, extension) ? typesByExtension[extension] : undefined) ?? 'application/pdf';
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** The vendor's word for a sound; undefined for kinds that it does not take. */
export function audioFormatOf(mediaType: string): string | undefined {
  const type = mediaType.toLowerCase();
  return Object.hasOwn(audioFormats, type) ? audioFormats[type] : undefined;
}

/** The type of a sound by the vendor's word for it. */
export const mediaTypeOfAudioFormat = (format: string): string => (format === 'mp3' ? 'audio/mpeg' : `audio/${format}`);

const audioBeginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['UklGR', 'audio/wav'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
];

/** The type of a sound by how its base64 begins: replies do not say it. Sound without a head is raw samples. */
export function guessAudioType(data: string): string {
  return audioBeginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? 'audio/pcm';
}
