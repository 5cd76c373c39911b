/** Media types that are fetched for models. */
const takenTypes = /^(?:image|audio|video)\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$|^application\/pdf$|^text\/plain$/;

/** Types that servers declare for files of unknown type. */
const unknownTypes = new Set(['application/octet-stream', 'binary/octet-stream']);

/**
 * The type of a Content-Type header, without parameters and in lower case: `unknown` if it names none, undefined if the
 * type is not for models.
 */
export function readMediaType(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return 'unknown';
  if (typeof header !== 'string') return undefined;
  const essence = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (unknownTypes.has(essence)) return 'unknown';
  return takenTypes.test(essence) ? essence : undefined;
}

/**
 * The type of a file by its bytes and its declared type (see readMediaType). Images and PDF are recognised by their
 * first bytes, which win over an inexact header (`image/jpg`, or a WebP declared as JPEG). Undefined if the bytes are
 * not of the declared kind.
 */
export function confirmMediaType(said: string, bytes: Buffer): string | undefined {
  const seen = recogniseMediaType(bytes);
  if (said === 'unknown') return seen;
  if (said.startsWith('image/')) return seen?.startsWith('image/') === true ? seen : undefined;
  if (said === 'application/pdf') return seen === 'application/pdf' ? seen : undefined;
  return said;
}

const beginnings: readonly { readonly type: string; readonly bytes: Buffer }[] = [
  { type: 'image/png', bytes: Buffer.from('89504e470d0a1a0a', 'hex') },
  { type: 'image/jpeg', bytes: Buffer.from('ffd8ff', 'hex') },
  { type: 'image/gif', bytes: Buffer.from('GIF87a') },
  { type: 'image/gif', bytes: Buffer.from('GIF89a') },
  { type: 'image/tiff', bytes: Buffer.from('49492a00', 'hex') },
  { type: 'image/tiff', bytes: Buffer.from('4d4d002a', 'hex') },
];

/** Brands of the ISO base media file format that are images. */
const imageBrands: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  heim: 'image/heic',
  heis: 'image/heic',
  hevc: 'image/heic',
  hevx: 'image/heic',
  mif1: 'image/heif',
  msf1: 'image/heif',
};

/** PDF readers accept this many bytes before the mark. */
const pdfMarkWithin = 1024;

/** The type of an image or PDF by its first bytes. */
function recogniseMediaType(bytes: Buffer): string | undefined {
  const known = beginnings.find((beginning) => bytes.subarray(0, beginning.bytes.length).equals(beginning.bytes));
  if (known !== undefined) return known.type;
  const text = (start: number, end: number): string => bytes.toString('latin1', start, end);
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp';
  // The name of a BMP is short; the four reserved zero bytes distinguish it from text.
  if (text(0, 2) === 'BM' && text(6, 10) === '\0\0\0\0') return 'image/bmp';
  const brand = text(8, 12);
  if (text(4, 8) === 'ftyp' && Object.hasOwn(imageBrands, brand)) return imageBrands[brand];
  return bytes.subarray(0, pdfMarkWithin).includes('%PDF-') ? 'application/pdf' : undefined;
}
