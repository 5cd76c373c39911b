import type { InferenceRequest } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/**
 * Notes the fields of a request that have no neutral name, and with them no place in another dialect. The harmless ones are lost without a
 * word.
 */
export function dropVendorFields({ vendorFields }: InferenceRequest, notes: TranslationNotes): void {
  for (const { field, weight } of vendorFields) {
    if (weight === 'matters') notes.dropped({ path: field, otherwise: 'turns' }, 'the interface of this model has no such field');
  }
}
