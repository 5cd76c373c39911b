/** Media in base64 (standard alphabet) with their type. */
export type InlineData = { readonly mediaType: string; readonly data: string };

function unescapeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: the text is used unchanged.
    return text;
  }
}

/** Reads a data URL. Undefined for other text. Data in another encoding is converted to base64. */
export function readDataUrl(url: string): InlineData | undefined {
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

export const writeDataUrl = ({ mediaType, data }: InlineData): string => `data:${mediaType};base64,${data}`;
