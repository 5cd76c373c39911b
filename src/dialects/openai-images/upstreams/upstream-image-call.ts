import type { ImageInput } from '../../../inference/image.ts';
import type { MultipartPart } from '../../../platform/http/multipart-body.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** What is sent to an upstream: JSON, or a form whose files are read while it is sent. */
export type UpstreamImageCall =
  | { readonly operation: 'generations' | 'edits' | 'generateContent' | 'predict'; readonly json: JsonObject }
  | { readonly operation: 'edits'; readonly form: readonly MultipartPart[] };

/** A picture that stands in JSON. Files of a form must have been read into the request before (`inlineUploads`). */
export function requireInline(input: ImageInput): Exclude<ImageInput, { readonly kind: 'upload' }> {
  if (input.kind === 'upload') throw new TypeError('an upload is written as JSON: inlineUploads comes first');
  return input;
}
