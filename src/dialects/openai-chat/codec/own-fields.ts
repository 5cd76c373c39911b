import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, VendorField } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The dialect as requests that were read from it call it. */
export const ownDialect = 'openai-chat';

/** What a reply that is read and written again cannot carry is not asked for. */
const repliesOnly: ReadonlySet<string> = new Set(['logprobs', 'top_logprobs', 'audio']);

const isCarried = ({ field }: VendorField): boolean => !repliesOnly.has(field);

/** Whether a request was read from this dialect, so that what only this dialect can say may go back into it. */
export const isOwn = ({ dialect }: InferenceRequest): boolean => dialect === ownDialect;

/**
 * The fields that only this dialect knows, as they stood in a request of it, by their names at the top of the body; for all others none, and
 * a note of what is lost.
 */
export function restoreOwnFields(request: InferenceRequest, notes: TranslationNotes): JsonObject {
  const { vendorFields } = request;
  if (!isOwn(request)) {
    dropVendorFields(vendorFields, notes);
    return {};
  }
  const restored = vendorFields.filter((field) => isCarried(field) && /^\w+$/.test(field.field));
  const lost = vendorFields.filter((field) => !restored.includes(field));
  dropVendorFields(lost, notes, 'a reply in which the gateway has a part cannot carry it');
  return Object.fromEntries(restored.map(({ field, value }) => [field, value]));
}
