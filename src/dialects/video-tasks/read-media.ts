import type { VideoInput } from '../../inference/video.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { isBase64 } from '../../platform/json/base64-text.ts';
import type { Claim } from './field-names.ts';
import { wrongMedia, wrongValue } from './request-problem.ts';

/** The maximum of images for one video (video.md 1.1, xAI). */
export const imagesMax = 7;
const urlCharactersMax = 8192;

type MediaKind = 'image' | 'video';

const dataUrlHead = /^data:([^,]{0,256}),/i;
const mediaTypePattern = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,63}$/;
/** Characters that parsers of addresses interpret differently, or remove. */
// oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
const unsafeInUrl = /[\u0000-\u0020\u007f\\]/;

function readDataUrl(url: string, path: string, kind: MediaKind): VideoInput {
  const head = dataUrlHead.exec(url);
  const [mediaType = '', ...attributes] = (head?.[1] ?? '').toLowerCase().split(';');
  if (head === null || attributes.at(-1) !== 'base64') throw wrongMedia(path, `must be a data URL of the form data:${kind}/...;base64,...`);
  if (!mediaTypePattern.test(mediaType) || !mediaType.startsWith(`${kind}/`))
    throw wrongMedia(path, `must contain data of a type ${kind}/...`);
  const base64 = url.slice(head[0].length);
  if (base64 === '' || !isBase64(base64)) throw wrongMedia(path, 'must contain base64 after its comma');
  return { kind: 'data', mediaType, base64 };
}

/**
 * Reads an address: `https:`, `http:` or a base64 data URL. The target of the address is not checked.
 * @throws GatewayError for every other scheme
 */
function readMediaUrl(url: string, path: string, kind: MediaKind): VideoInput {
  if (/^data:/i.test(url)) return readDataUrl(url, path, kind);
  if (!isWebUrl(url)) throw wrongMedia(path, `must be an https: or http: address, or a data URL of the form data:${kind}/...;base64,...`);
  return { kind: 'url', url };
}

/** Whether a text is a web address that every parser reads the same way. */
export const isWebUrl = (url: string): boolean =>
  url.length <= urlCharactersMax && /^https?:\/\/[^/]/i.test(url) && !unsafeInUrl.test(url) && URL.canParse(url);

/**
 * Reads a medium as clients write it: an address, or an object with the address in `url` or `image_url`, which may be
 * such an object again.
 */
export function readMedium(value: JsonValue, path: string, kind: MediaKind): VideoInput {
  if (typeof value === 'string') return readMediaUrl(value, path, kind);
  if (!isJsonObject(value)) throw wrongMedia(path, 'must be an address or a data URL');
  if (value.file_id !== undefined) throw wrongMedia(`${path}.file_id`, `cannot be used here: send the ${kind} itself or its address`);
  const names = ['url', 'image_url', 'video_url'].filter((name) => value[name] !== undefined);
  const [name = 'url'] = names;
  if (names.length > 1) throw wrongMedia(path, `must have only one of ${names.join(', ')}`);
  const inner = value[name];
  const innerPath = `${path}.${name}`;
  if (typeof inner === 'string') return readMediaUrl(inner, innerPath, kind);
  if (isJsonObject(inner) && typeof inner.url === 'string') return readMediaUrl(inner.url, `${innerPath}.url`, kind);
  throw wrongMedia(path, 'must have the address or data URL in its member url');
}

/** Reads a list of 1 to 7 images. */
export function readMediaList({ value, path }: Claim): readonly VideoInput[] {
  if (!Array.isArray(value)) throw wrongMedia(path, 'must be an array');
  const items = value as readonly JsonValue[];
  if (items.length === 0 || items.length > imagesMax) throw wrongValue(path, `must have 1 to ${imagesMax} items`, `${items.length}`);
  return items.map((item, index) => readMedium(item, `${path}[${index}]`, 'image'));
}
