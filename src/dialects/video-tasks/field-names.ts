import { meaningOf } from '../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { listMembers } from '../../platform/json/locate-json.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import { textAt, type TextMember } from './json-text.ts';

/** The meaning of a field, independent of its spelling. The cost of a video depends only on these fields. */
export type VideoField =
  | 'model'
  | 'prompt'
  | 'user'
  | 'duration'
  | 'resolution'
  | 'aspect_ratio'
  | 'size'
  | 'image'
  | 'images'
  | 'reference_images'
  | 'video'
  | 'metadata'
  | 'callback_url';

const fieldsByName: Readonly<Record<string, VideoField>> = {
  model: 'model',
  prompt: 'prompt',
  user: 'user',
  duration: 'duration',
  durationseconds: 'duration',
  seconds: 'duration',
  resolution: 'resolution',
  aspectratio: 'aspect_ratio',
  size: 'size',
  image: 'image',
  imageurl: 'image',
  inputreference: 'image',
  images: 'images',
  imageurls: 'images',
  referenceimages: 'reference_images',
  referenceimageurls: 'reference_images',
  video: 'video',
  videourl: 'video',
  metadata: 'metadata',
  callbackurl: 'callback_url',
  webhookurl: 'callback_url',
};

/**
 * Finds the meaning of a key. Undefined for keys that no video interface prices. Servers accept different spellings:
 * one reads `aspectRatio` as `aspect_ratio` (protobuf), another one `DURATION`, and even `ſeconds` with a long s (Go).
 * So every spelling that any of them could read as a field counts as that field.
 */
export const fieldOf = (key: string): VideoField | undefined =>
  key.length > 64 ? undefined : meaningOf(key.toUpperCase().toLowerCase().replaceAll(/[_-]/g, ''), fieldsByName);

/** A field's value at one place of a request. */
export type Claim = {
  readonly key: string;
  /** The path for messages: `metadata.duration`. */
  readonly path: string;
  readonly value: JsonValue;
  /** The value exactly as it was written. */
  readonly text: () => string;
};

/** The fields of an object by meaning, and all others. Null counts as absent. */
export type ClaimedFields = {
  readonly claims: ReadonlyMap<VideoField, readonly Claim[]>;
  readonly others: readonly TextMember[];
};

/**
 * @param object the parsed object of `span`
 * @param prefix of the paths in messages: `metadata.`
 */
export function claimFields(bytes: Buffer, span: JsonSpan, object: JsonObject, prefix: string): ClaimedFields {
  const claims = new Map<VideoField, Claim[]>();
  const others: TextMember[] = [];
  for (const { key, keySpan, valueSpan } of listMembers(bytes, span)) {
    const field = fieldOf(key);
    if (field === undefined) {
      others.push({ key, keyText: textAt(bytes, keySpan), valueText: textAt(bytes, valueSpan) });
      continue;
    }
    const value = object[key];
    if (value === null || value === undefined) continue;
    const claim: Claim = { key, path: `${prefix}${key}`, value, text: () => textAt(bytes, valueSpan) };
    const sameField = claims.get(field);
    if (sameField === undefined) claims.set(field, [claim]);
    else sameField.push(claim);
  }
  return { claims, others };
}
