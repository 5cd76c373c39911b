import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, VendorField } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The name of this dialect in requests that were read from it. */
export const ownDialect = 'gemini-generate-content';

/** Fields that a rewritten reply cannot carry are not sent. */
const repliesOnly: ReadonlySet<string> = new Set(['generationConfig.responseLogprobs', 'generationConfig.logprobs']);

const inPart = 'a reply that the gateway rewrites cannot carry it';

/**
 * The parts of a request that only its own dialect can express. For this dialect, they return to their place, so that a
 * decoded and encoded request loses nothing. Unused fields, and those of other dialects, are noted.
 */
export class OwnFields {
  readonly isOwn: boolean;
  /** Fields by the path of their parent, and by their name there. */
  readonly #left = new Map<string, Map<string, VendorField>>();

  constructor({ dialect, vendorFields }: Pick<InferenceRequest, 'dialect' | 'vendorFields'>) {
    this.isOwn = dialect === ownDialect;
    for (const vendorField of vendorFields) {
      const { field } = vendorField;
      const cut = field.lastIndexOf('.');
      const holder = field.slice(0, Math.max(cut, 0));
      const members = this.#left.get(holder) ?? new Map<string, VendorField>();
      members.set(field.slice(cut + 1), vendorField);
      this.#left.set(holder, members);
    }
  }

  /** Returns the members of the object at this path, once. None for a request of another dialect. */
  take(holder: string | undefined): JsonObject {
    const members = holder === undefined || !this.isOwn ? undefined : this.#left.get(holder);
    if (members === undefined || holder === undefined) return {};
    const requestFields = [...members].filter(([, { field }]) => !repliesOnly.has(field));
    for (const [name] of requestFields) members.delete(name);
    return Object.fromEntries(requestFields.map(([name, { value }]) => [name, value]));
  }

  /** Notes fields that were not used. */
  noteRest(notes: TranslationNotes): void {
    const left = [...this.#left.values()].flatMap((members) => [...members.values()]);
    dropVendorFields(left, notes, this.isOwn ? inPart : undefined);
  }
}
