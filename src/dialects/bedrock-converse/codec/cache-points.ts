import type { InferenceRequest, VendorField } from '../../../inference/inference-request.ts';
import type { ConverseTraits } from '../../../inference/model-traits.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import { membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The most marks that AWS accepts in one request. */
const pointsMax = 4;

/** The member of Messages with which a client marks the end of a part of the prompt for the cache. */
const mark = '.cache_control';

/** Where a mark stands. */
export type CachePlace = ConverseTraits['cachePoints'][number];

/**
 * The marks for the cache of a request that came from Messages. Converse has a block for each, after what it marks.
 * Marks that the model does not take are left for `dropVendorFields`.
 */
export class CachePoints {
  readonly #marks = new Map<string, VendorField>();
  readonly #read = new Set<VendorField>();
  readonly #places: ConverseTraits['cachePoints'];
  readonly #notes: TranslationNotes;

  constructor({ vendorFields }: InferenceRequest, places: ConverseTraits['cachePoints'], notes: TranslationNotes) {
    this.#places = places;
    this.#notes = notes;
    for (const field of vendorFields) {
      const at = field.field;
      if (at.endsWith(mark) && membersOf(field.value).type === 'ephemeral') this.#marks.set(at.slice(0, -mark.length), field);
    }
  }

  /** The block after the part with this path, as a list; empty if the part has no mark. */
  after(path: string | undefined, place: CachePlace): readonly JsonObject[] {
    const field = path === undefined ? undefined : this.#marks.get(path);
    if (field === undefined || !this.#places.includes(place) || this.#read.size >= pointsMax) return [];
    this.#read.add(field);
    if (membersOf(field.value).ttl === '1h')
      this.#notes.adapted({ path: `${field.field}.ttl`, otherwise: 'turns' }, 'this model keeps what it caches for five minutes');
    return [{ cachePoint: { type: 'default' } }];
  }

  /** The fields of the request that are not in what was written. */
  unread(fields: readonly VendorField[]): readonly VendorField[] {
    return fields.filter((field) => !this.#read.has(field));
  }
}
