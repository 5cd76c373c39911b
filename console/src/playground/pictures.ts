import type { Picture } from './conversation.ts';

/** The bytes of pictures by their marks, in base64. */
const bytes = new Map<string, string>();
let count = 0;

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
const pictureBytesMax = 10 * 1024 * 1024;

/** Why a file cannot be sent as a picture; undefined if it can. */
export function refusePicture({ name, type, size }: Pick<File, 'name' | 'type' | 'size'>): string | undefined {
  if (!(pictureTypes as readonly string[]).includes(type)) return `${name} is not a PNG, JPEG, WebP or GIF image.`;
  if (size > pictureBytesMax) return `${name} has more than 10 MiB.`;
  return undefined;
}

/** Reads a picture. In texts that people see, a mark stands for its bytes: nobody can read a megabyte of base64. */
export async function addPicture(file: File): Promise<Picture> {
  count += 1;
  const name = file.name.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_') || 'image';
  const mark = `\u2039${count}: ${name}, ${file.size} bytes\u203a`;
  bytes.set(mark, toBase64(new Uint8Array(await file.arrayBuffer())));
  return { name, mediaType: file.type, mark };
}

/** A data address of a picture, to show it. */
export const pictureAddress = ({ mediaType, mark }: Picture): string => `data:${mediaType};base64,${bytes.get(mark) ?? ''}`;

/** A text with the bytes in the place of their marks. Base64 needs no escapes in JSON. */
export function fillIn(text: string, of: ReadonlyMap<string, string> = bytes): string {
  let filled = text;
  for (const [mark, base64] of of) if (filled.includes(mark)) filled = filled.replaceAll(mark, () => base64);
  return filled;
}

/** A shell passes at most 128 KiB as one argument. */
const lineCharactersMax = 120_000;

/**
 * Lines of a program with the bytes of their pictures, so that they work where they are pasted.
 * @returns also the marks that stay, because their pictures are too large for a line
 */
export function codeWithBytes(
  text: string,
  of: ReadonlyMap<string, string> = bytes,
): { readonly text: string; readonly missing: readonly string[] } {
  const filled = fillIn(text, of);
  if (filled.length <= lineCharactersMax) return { text: filled, missing: [] };
  return { text, missing: [...of.keys()].filter((mark) => text.includes(mark)) };
}

const pieceBytes = 32_768;

function toBase64(data: Uint8Array): string {
  let text = '';
  for (let start = 0; start < data.length; start += pieceBytes) text += String.fromCharCode(...data.subarray(start, start + pieceBytes));
  return btoa(text);
}
