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
  /** The most uses that the request allows one of them; absent where it names no number. */
  readonly toolUses?: number;
};

/** `text`: what looks like a medium there is read by the model as it is written. */
type Medium = 'image' | 'file' | 'text' | undefined;

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
/** Members with JSON of the client's own making: definitions and schemas, what a tool was called with, and what it answered. */
const freeMembers = new Set([...toolMembers, 'args', 'response', 'schema', 'responseSchema', 'responseJsonSchema', 'response_format']);
const toolUseTypes = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);
const usesMembers = new Set(['max_uses', 'max_tool_calls']);
/** What a small number, a punctuation mark or a word like `true` may come to in tokens; and any other number, as it is written when it was read. */
const scalarBytes = 8;
const numberBytes = 25;
const smallNumberMax = 9_999_999;

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
