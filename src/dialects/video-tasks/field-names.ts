import { meaningOf } from '../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { listMembers } from '../../platform/json/locate-json.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import { textAt, type TextMember } from './json-text.ts';

/** What a field is about, whatever its spelling. What a video costs depends on nothing else. */
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
 * What a key is about; undefined for keys that no interface of videos prices. Servers differ in what they take for the same name: one reads `aspectRatio` as `aspect_ratio`
 * (protobuf), another one `DURATION`, and even `ſeconds` with a long s (Go). So spellings that any of them could read as a field count as that field.
 */
export const fieldOf = (key: string): VideoField | undefined =>
  key.length > 64 ? undefined : meaningOf(key.toUpperCase().toLowerCase().replaceAll(/[_-]/g, ''), fieldsByName);

/** What a request says of a field in one place. */
export type Claim = {
  readonly key: string;
  /** As messages name it: `metadata.duration`. */
  readonly path: string;
  readonly value: JsonValue;
  /** The value as it was written. */
  readonly text: () => string;
};

/** The fields of an object by what they are about, and all others. Null is as good as absent. */
export type ClaimedFields = {
  readonly claims: ReadonlyMap<VideoField, readonly Claim[]>;
  readonly others: readonly TextMember[];
};

/**
 * @param object the same object as at `span`, parsed
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
    const known = claims.get(field);
    if (known === undefined) claims.set(field, [claim]);
    else known.push(claim);
  }
  return { claims, others };
}
