import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, VendorField } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The dialect name of requests that were read from this dialect. */
export const ownDialect = 'openai-chat';

/** Fields for data that a reply loses when it is decoded and encoded again. They are not requested. */
const repliesOnly: ReadonlySet<string> = new Set(['logprobs', 'top_logprobs', 'audio']);

const isCarried = ({ field }: VendorField): boolean => !repliesOnly.has(field);

/** Whether a request was read from this dialect, so that members that only this dialect has may be written back. */
export const isOwn = ({ dialect }: InferenceRequest): boolean => dialect === ownDialect;

/**
 * The fields that only this dialect has, as they were in a request of it, by their names at the top of the body. For
 * other requests there are none, and losses are noted.
 */
export function restoreOwnFields(request: InferenceRequest, notes: TranslationNotes): JsonObject {
  const { vendorFields } = request;
  if (!isOwn(request)) {
    dropVendorFields(vendorFields, notes);
    return {};
  }
  const restored = vendorFields.filter((field) => isCarried(field) && /^\w+$/.test(field.field));
  const dropped = vendorFields.filter((field) => !restored.includes(field));
  dropVendorFields(dropped, notes, 'a reply that the gateway rewrites cannot carry it');
  return Object.fromEntries(restored.map(({ field, value }) => [field, value]));
}
