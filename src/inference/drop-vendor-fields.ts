import type { VendorField } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

const noField = 'the interface of this model has no such field';
const noHint = 'a hint for its own vendor, which means nothing to the upstream of this model';

/** Removes positions in lists from a path, so that a field that occurs in every message or tool is named once. */
const placeless = (path: string): string => path.replaceAll(/\[\d+\]|\.\d+(?=\.|$)/g, '');

/**
 * Notes fields that have no neutral name and therefore no place in another dialect. Fields that change the answer come
 * before hints, so that a truncated header still names them.
 */
export function dropVendorFields(fields: readonly VendorField[], notes: TranslationNotes, reason = noField): void {
  const alike = new Map<string, VendorField[]>();
  for (const field of fields) {
    if (field.weight === 'harmless') continue;
    const key = placeless(field.field);
    const group = alike.get(key);
    if (group === undefined) alike.set(key, [field]);
    else group.push(field);
  }
  const groups = [...alike.values()];
  const isHint = ([first]: readonly VendorField[]): boolean => first?.weight === 'hint';
  for (const group of [...groups.filter((one) => !isHint(one)), ...groups.filter(isHint)]) {
    const [first, ...others] = group;
    if (first === undefined) continue;
    const why = first.weight === 'hint' && reason === noField ? noHint : reason;
    const more = others.length === 0 ? '' : `; it also occurs in ${others.length} other ${others.length === 1 ? 'place' : 'places'}`;
    notes.dropped({ path: first.field, otherwise: 'turns' }, why + more);
  }
}
