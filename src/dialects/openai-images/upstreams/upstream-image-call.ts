import type { ImageInput } from '../../../inference/image.ts';
import type { MultipartPart } from '../../../platform/http/multipart-body.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The body of a request to an upstream: JSON, or a form whose files are read while it is sent. */
export type UpstreamImageCall =
  | { readonly operation: 'generations' | 'edits' | 'generateContent' | 'predict'; readonly json: JsonObject }
  | { readonly operation: 'edits'; readonly form: readonly MultipartPart[] };

/** An image inside JSON. Uploaded files must already be in the request (`inlineUploads`). */
export function requireInline(input: ImageInput): Exclude<ImageInput, { readonly kind: 'upload' }> {
  if (input.kind === 'upload') throw new TypeError('an upload cannot be written as JSON: call inlineUploads first');
  return input;
}
