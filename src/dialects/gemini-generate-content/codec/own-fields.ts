import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, VendorField } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The dialect as requests that were read from it call it. */
export const ownDialect = 'gemini-generate-content';

/** What a reply that is read and written again cannot carry is not asked for. */
const repliesOnly: ReadonlySet<string> = new Set(['generationConfig.responseLogprobs', 'generationConfig.logprobs']);

const inPart = 'a reply that the gateway rewrites cannot carry it';

/**
 * What a request says that only its own dialect has words for. Where it was read from this dialect it is put back where it stood, so that a
 * request that is read and written again loses nothing; fields that nobody takes, and those of other dialects, are noted.
 */
export class OwnFields {
  readonly isOwn: boolean;
  /** Fields by the path of what holds them, and by their name there. */
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

  /** The members that stood in the object at this path, once; none in a request of another dialect. */
  take(holder: string | undefined): JsonObject {
    const members = holder === undefined || !this.isOwn ? undefined : this.#left.get(holder);
    if (members === undefined || holder === undefined) return {};
    const taken = [...members].filter(([, { field }]) => !repliesOnly.has(field));
    for (const [name] of taken) members.delete(name);
    return Object.fromEntries(taken.map(([name, { value }]) => [name, value]));
  }

  /** Notes what nobody took. */
  noteRest(notes: TranslationNotes): void {
    const left = [...this.#left.values()].flatMap((members) => [...members.values()]);
    dropVendorFields(left, notes, this.isOwn ? inPart : undefined);
  }
}
