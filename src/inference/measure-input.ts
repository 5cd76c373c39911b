/** How large the parts of a request are that a model reads. */
export type InputMeasure = {
  /** Bytes of text in UTF-8, names of members and proofs included, and with them whatever is no medium. */
  readonly textBytes: number;
  /** Pictures, inline or by address. Their bytes count nowhere: no vendor prices a picture by them. */
  readonly images: number;
  /** Documents, sound and video, inline, by address or by id. */
  readonly files: number;
  /** Bytes of those that are inline, as they stand in the request. */
  readonly fileBytes: number;
  /** Whether tools are offered: vendors explain them to the model in words of their own. */
  readonly offersTools: boolean;
};

type Medium = 'image' | 'file' | undefined;

/** Members that hold a medium or say where it lies. */
const mediumMembers = new Set(['data', 'file_data', 'image_url', 'url', 'file_url', 'file_id', 'fileUri', 'file_uri', 'result']);
const mimeMembers = ['mimeType', 'mime_type', 'media_type'] as const;
const fileTypes = new Set([
  'document',
  'file',
  'input_file',
  'input_audio',
  'audio',
  'audio_url',
  'video',
  'video_url',
  'input_video',
  'container_upload',
]);
const fileMembers = new Set(['inlineData', 'inline_data', 'fileData', 'video_url', 'audio_url']);
const toolMembers = new Set(['tools', 'functions']);
/** What a number, a punctuation mark or a word like `true` may come to in tokens. */
const scalarBytes = 8;

type Sums = { -readonly [Member in keyof InputMeasure]: InputMeasure[Member] };

/**
 * Measures a parsed request body, whatever its dialect. A token is at least one byte of text, so that `textBytes` bounds what text can come to. Only to be used on what the
 * structural guard has passed: the walk goes as deep as the body.
 */
export function measureInput(value: unknown): InputMeasure {
  const sums: Sums = { textBytes: 0, images: 0, files: 0, fileBytes: 0, offersTools: false };
  add(sums, value, undefined, undefined);
  return sums;
}

function add(sums: Sums, value: unknown, member: string | undefined, within: Medium): void {
  if (typeof value === 'string') return addText(sums, value, member, within);
  if (typeof value !== 'object' || value === null) {
    sums.textBytes += scalarBytes;
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) add(sums, item, undefined, within);
    return;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const medium = within ?? mediumOf(members, member);
  if (within === undefined && medium === 'image') sums.images += 1;
  if (within === undefined && medium === 'file') sums.files += 1;
  for (const key in members) {
    if (toolMembers.has(key)) sums.offersTools = true;
    sums.textBytes += Buffer.byteLength(key) + scalarBytes;
    add(sums, members[key], key, medium);
  }
}

function addText(sums: Sums, text: string, member: string | undefined, within: Medium): void {
  const isMedium = within !== undefined && member !== undefined && mediumMembers.has(member);
  if (!isMedium) sums.textBytes += Buffer.byteLength(text);
  else if (within === 'file') sums.fileBytes += Buffer.byteLength(text);
}

/** What kind of medium an object is, by its type, by the type of its contents and by the member that it stands in. */
function mediumOf(members: Readonly<Record<string, unknown>>, member: string | undefined): Medium {
  const { type } = members;
  // A document of plain text is text.
  if (type === 'text') return undefined;
  for (const name of mimeMembers) {
    const mime = members[name];
    if (typeof mime === 'string') return mime.startsWith('image/') ? 'image' : 'file';
  }
  if (typeof type === 'string' && type.includes('image')) return hasMedium(members) ? 'image' : undefined;
  if (member === 'image_url') return 'image';
  if (typeof type === 'string' && fileTypes.has(type)) return 'file';
  return member !== undefined && fileMembers.has(member) ? 'file' : undefined;
}

/** Tools that make pictures have types with that word as well. */
function hasMedium(members: Readonly<Record<string, unknown>>): boolean {
  return 'source' in members || Object.keys(members).some((name) => mediumMembers.has(name));
}
