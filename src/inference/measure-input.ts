/** The size of those parts of a request that a model reads. */
export type InputMeasure = {
  /** Bytes of UTF-8 text, including names of members, proofs, and everything that is not a medium. */
  readonly textBytes: number;
  /** Images, inline or by address. Their bytes are not counted, because no vendor prices an image by its bytes. */
  readonly images: number;
  /** Documents, audio and video, inline, by address or by id. */
  readonly files: number;
  /** Bytes of the inline files, as the request contains them. */
  readonly fileBytes: number;
  /** Whether tools are offered. Vendors describe them to the model in additional text. */
  readonly offersTools: boolean;
  /** The maximum of uses that the request allows for one of them. Absent: the request names no number. */
  readonly toolUses?: number;
};

/** `text`: a value that looks like a medium there is ordinary text for the model. */
type Medium = 'image' | 'file' | 'text' | undefined;

/** Members that contain a medium or its address. */
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
/** Members with the client's own JSON: definitions, schemas, and the arguments and results of tools. */
const freeMembers = new Set([...toolMembers, 'args', 'response', 'schema', 'responseSchema', 'responseJsonSchema', 'response_format']);
const toolUseTypes = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);
const usesMembers = new Set(['max_uses', 'max_tool_calls']);
/**
 * How many tokens a small number, a punctuation mark or a word like `true` may be. Any other number counts as it was
 * written.
 */
const scalarBytes = 8;
const numberBytes = 25;
const smallNumberMax = 9_999_999;

type Sums = { -readonly [Member in keyof InputMeasure]: InputMeasure[Member] };

/**
 * Measures a parsed request body in any dialect. A token is at least one byte of text, so `textBytes` is an upper bound
 * for the tokens of the text. The walk is as deep as the body, so use it only for bodies that passed the structural
 * scan.
 */
export function measureInput(value: unknown): InputMeasure {
  const sums: Sums = { textBytes: 0, images: 0, files: 0, fileBytes: 0, offersTools: false };
  add(sums, value, undefined, undefined);
  return sums;
}

function add(sums: Sums, value: unknown, member: string | undefined, within: Medium): void {
  if (typeof value === 'string') return addText(sums, value, member, within);
  if (typeof value !== 'object' || value === null) {
    sums.textBytes += typeof value === 'number' && !isSmall(value) ? numberBytes : scalarBytes;
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) add(sums, item, undefined, within);
    return;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const medium = within ?? mediumOf(members, member);
  const isToolUse = typeof members['type'] === 'string' && toolUseTypes.has(members['type']);
  if (within === undefined && medium === 'image') sums.images += 1;
  if (within === undefined && medium === 'file') sums.files += 1;
  for (const key in members) {
    const value = members[key];
    if (toolMembers.has(key)) sums.offersTools = true;
    if (typeof value === 'number' && usesMembers.has(key)) sums.toolUses = Math.max(value, sums.toolUses ?? 0);
    sums.textBytes += Buffer.byteLength(key) + scalarBytes;
    add(sums, value, key, freeMembers.has(key) || (isToolUse && key === 'input') ? 'text' : medium);
  }
}

const isSmall = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= smallNumberMax;

function addText(sums: Sums, text: string, member: string | undefined, within: Medium): void {
  const isMedium = within !== undefined && within !== 'text' && member !== undefined && mediumMembers.has(member);
  if (!isMedium) sums.textBytes += Buffer.byteLength(text);
  else if (within === 'file') sums.fileBytes += Buffer.byteLength(text);
}

/** Finds the kind of medium of an object from its type, the type of its contents and the member that contains it. */
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

/** Tools that make images also have this word in their type. */
function hasMedium(members: Readonly<Record<string, unknown>>): boolean {
  return 'source' in members || Object.keys(members).some((name) => mediumMembers.has(name));
}
