import { confirmMediaType } from '../../platform/http/media-type.ts';

/** Characters of base64 in which a picture says what it is. */
const beginningCharacters = 64;

/** The type of a picture by how its base64 begins; undefined for what is none that is known. */
export function sniffImage(data: string): string | undefined {
  const seen = confirmMediaType('unknown', Buffer.from(data.slice(0, beginningCharacters), 'base64'));
  return seen?.startsWith('image/') === true ? seen : undefined;
}
