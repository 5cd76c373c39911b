/** Reads `data:<type>;base64,<data>`; undefined for any other text. The type is in lower case, without parameters. */
export function readDataUri(text: string): { readonly mediaType: string; readonly bytes: Buffer } | undefined {
  if (!/^data:/i.test(text)) return undefined;
  const comma = text.indexOf(',');
  const head = text.slice('data:'.length, comma);
  if (comma < 0 || !/;\s*base64\s*$/i.test(head)) return undefined;
  const mediaType = (head.split(';')[0] ?? '').trim().toLowerCase();
  return { mediaType, bytes: Buffer.from(text.slice(comma + 1), 'base64') };
}
