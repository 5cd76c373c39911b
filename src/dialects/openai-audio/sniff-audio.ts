import { GatewayError } from '../../inference/gateway-error.ts';

/** The container format of a file, from its bytes. */
export type AudioContainer = 'flac' | 'mp3' | 'mpeg' | 'mp4' | 'ogg' | 'wav' | 'webm';

/** The length of the beginning of a file that is read. */
export const sniffedBytes = 4096;

/** The vendor's names, in its order. */
const extensions = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'];

const containersOfExtension: Readonly<Record<string, readonly AudioContainer[]>> = {
  flac: ['flac'],
  m4a: ['mp4'],
  mp3: ['mp3', 'mpeg'],
  mp4: ['mp4'],
  mpeg: ['mp3', 'mpeg'],
  mpga: ['mp3', 'mpeg'],
  oga: ['ogg'],
  ogg: ['ogg'],
  wav: ['wav'],
  webm: ['webm'],
};

const containersOfType: Readonly<Record<string, readonly AudioContainer[]>> = {
  flac: ['flac'],
  'x-flac': ['flac'],
  mp3: ['mp3', 'mpeg'],
  'x-mp3': ['mp3', 'mpeg'],
  mpeg: ['mp3', 'mpeg'],
  'x-mpeg': ['mp3', 'mpeg'],
  mpeg3: ['mp3', 'mpeg'],
  mpga: ['mp3', 'mpeg'],
  mp4: ['mp4'],
  m4a: ['mp4'],
  'x-m4a': ['mp4'],
  'mp4a-latm': ['mp4'],
  quicktime: ['mp4'],
  ogg: ['ogg'],
  opus: ['ogg', 'webm'],
  vorbis: ['ogg', 'webm'],
  wav: ['wav'],
  wave: ['wav'],
  'x-wav': ['wav'],
  'x-pn-wav': ['wav'],
  'vnd.wave': ['wav'],
  webm: ['webm'],
  'x-matroska': ['webm'],
};

/** The extension and media type of each container if the client named none. */
export const usualNames: Readonly<Record<AudioContainer, { readonly extension: string; readonly type: string }>> = {
  flac: { extension: 'flac', type: 'audio/flac' },
  mp3: { extension: 'mp3', type: 'audio/mpeg' },
  mpeg: { extension: 'mpeg', type: 'audio/mpeg' },
  mp4: { extension: 'm4a', type: 'audio/mp4' },
  ogg: { extension: 'ogg', type: 'audio/ogg' },
  wav: { extension: 'wav', type: 'audio/wav' },
  webm: { extension: 'webm', type: 'audio/webm' },
};

const latin = (bytes: Buffer, start: number, end: number): string => bytes.toString('latin1', start, end);

/** Recognises a file by its first bytes. Undefined for unsupported formats. */
export function sniffAudio(head: Buffer): AudioContainer | undefined {
  if (latin(head, 0, 4) === 'fLaC') return 'flac';
  if (latin(head, 0, 4) === 'OggS') return 'ogg';
  if (/^(?:RIFF|RF64|BW64)/.test(latin(head, 0, 4)) && latin(head, 8, 12) === 'WAVE') return 'wav';
  if (latin(head, 4, 8) === 'ftyp') return 'mp4';
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (latin(head, 0, 3) === 'ID3') return latin(head, id3End(head), id3End(head) + 4) === 'fLaC' ? 'flac' : 'mp3';
  if (head.length >= 4 && [0x1ba, 0x1b3].includes(head.readUInt32BE(0))) return 'mpeg';
  // Some recorders put zeros before the first frame.
  let at = 0;
  while (at < head.length && head[at] === 0) at++;
  return isMpegFrame(head, at) ? 'mp3' : undefined;
}

/** The end of an ID3 tag. Its length has four bytes of seven bits. */
function id3End(head: Buffer): number {
  return [6, 7, 8, 9].reduce((length, at) => length * 128 + ((head[at] ?? 0) & 0x7f), 0) + 10;
}

/** Whether an MPEG audio frame header without reserved values begins here. Layer 0 is AAC. */
function isMpegFrame(head: Buffer, at: number): boolean {
  const [sync, kind = 0, rates = 0] = head.subarray(at, at + 3);
  const hasSync = sync === 0xff && (kind & 0xe0) === 0xe0;
  const version = (kind >> 3) & 3;
  const layer = (kind >> 1) & 3;
  return hasSync && version !== 1 && layer !== 0 && rates >> 4 !== 15 && ((rates >> 2) & 3) !== 3;
}

/** An uploaded file with its client's description. */
export type UploadedAudio = { readonly filename: string; readonly declaredType: string; readonly head: Buffer; readonly bytes: number };

/**
 * Checks that a file is audio in a supported format, and that its name and declared type agree with its content. A
 * missing type, `application/octet-stream` and a name without an extension are not checked.
 * @throws GatewayError `invalid_media` (400)
 */
export function checkUploadedAudio({ filename, declaredType, head, bytes }: UploadedAudio): AudioContainer {
  if (bytes === 0) throw invalidMedia('The audio file is empty; at least one second of audio is expected.');
  const extension = extensionOf(filename);
  const container = sniffAudio(head);
  if (container === undefined) throw unrecognized();
  const named = extension === undefined || !Object.hasOwn(containersOfExtension, extension) ? undefined : containersOfExtension[extension];
  if (extension !== undefined && named?.includes(container) !== true)
    throw named === undefined ? unrecognized() : contradiction(`is named .${extension}`, container);
  const type = declaredType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (/^(?:|application\/octet-stream|binary\/octet-stream)$/.test(type)) return container;
  const [kind, subtype = ''] = type.split('/');
  const isSound = kind === 'audio' || kind === 'video' || type === 'application/ogg' || type === 'application/mp4';
  const declared = Object.hasOwn(containersOfType, subtype) ? containersOfType[subtype] : undefined;
  if (!isSound || (declared !== undefined && !declared.includes(container)))
    throw contradiction(`is declared to be ${type.slice(0, 80)}`, container);
  return container;
}

/** The extension of a name in lower case. Undefined if it has none. */
export function extensionOf(filename: string): string | undefined {
  return /\.([A-Za-z0-9]{1,16})$/.exec(filename)?.[1]?.toLowerCase();
}

const supported = `Supported formats: [${extensions.map((name) => `'${name}'`).join(', ')}]`;

function unrecognized(): GatewayError {
  return invalidMedia(`Unrecognized file format. ${supported}`);
}

function contradiction(saying: string, container: AudioContainer): GatewayError {
  return invalidMedia(`Invalid file format: the file ${saying} and its content is ${container}. ${supported}`);
}

function invalidMedia(message: string): GatewayError {
  return new GatewayError('invalid_media', message, { param: 'file' });
}
