/** The first bytes of signature formats. */
const signatures: readonly { readonly mediaType: string; readonly bytes: readonly number[]; readonly at?: number }[] = [
  { mediaType: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { mediaType: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { mediaType: 'image/gif', bytes: [0x47, 0x49, 0x46, 0x38] },
  { mediaType: 'image/webp', bytes: [0x57, 0x45, 0x42, 0x50], at: 8 },
  { mediaType: 'application/gzip', bytes: [0x1f, 0x8b] },
];

/** Plain text types, by the extension of the name. */
const textTypes: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  jsonl: 'application/jsonl',
  html: 'text/html',
  htm: 'text/html',
  xml: 'application/xml',
};

export const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** How many bytes show the format. Some programs write a few lines before a PDF begins. */
const headBytes = 1024;

/**
 * Finds the media type from a file's first bytes. The name only decides between types of text, because the client
 * chooses it.
 */
export function sniffMediaType(content: Uint8Array, filename: string): string {
  const head = content.subarray(0, headBytes);
  const signature = signatures.find(({ bytes, at = 0 }) => bytes.every((byte, index) => head[at + index] === byte));
  if (signature !== undefined) return signature.mediaType;
  const latin = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (latin.includes('%PDF-')) return 'application/pdf';
  if (latin.startsWith('PK\u0003\u0004')) return /\.docx$/i.test(filename) || latin.includes('word/') ? docxType : 'application/zip';
  const hasByteOrder = /^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(latin);
  if (!hasByteOrder && latin.includes('\0')) return 'application/octet-stream';
  if (/^\s*(?:<!doctype html|<html)/i.test(latin.replace(/^\u00ef\u00bb\u00bf/, ''))) return 'text/html';
  const extension = /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(textTypes, extension) ? textTypes[extension] : undefined) ?? 'text/plain';
}
