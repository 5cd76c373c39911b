import { confirmMediaType } from '../../platform/http/media-type.ts';

/** The beginning of the base64, from which the type is recognised. */
const beginningCharacters = 64;

/** The type of an image by the beginning of its base64. Undefined for unknown types. */
export function sniffImage(data: string): string | undefined {
  const mediaType = confirmMediaType('unknown', Buffer.from(data.slice(0, beginningCharacters), 'base64'));
  return mediaType?.startsWith('image/') === true ? mediaType : undefined;
}
