import type { FileFilter } from '../../inference/inference-request.ts';
import type { Attributes } from './file-objects.ts';

type Compare = Extract<FileFilter, { kind: 'compare' }>;
type Value = string | number | boolean;

/**
 * Whether a file's attributes match a condition. A missing attribute matches only `ne` and `nin`. Types are never
 * converted.
 */
export function fitsFilter(filter: FileFilter, attributes: Attributes): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((inner) => fitsFilter(inner, attributes));
    case 'or':
      return filter.filters.some((inner) => fitsFilter(inner, attributes));
    case 'compare':
      return compare(filter, Object.hasOwn(attributes, filter.key) ? attributes[filter.key] : undefined);
  }
}

function compare({ operator, value }: Compare, actual: Value | undefined): boolean {
  switch (operator) {
    case 'eq':
      return actual === value;
    case 'ne':
      return actual !== value;
    case 'in':
      return Array.isArray(value) && value.includes(actual);
    case 'nin':
      return Array.isArray(value) && !value.includes(actual);
    case 'gt':
      return isOrdered(actual, value, (left, right) => left > right);
    case 'gte':
      return isOrdered(actual, value, (left, right) => left >= right);
    case 'lt':
      return isOrdered(actual, value, (left, right) => left < right);
    case 'lte':
      return isOrdered(actual, value, (left, right) => left <= right);
  }
}

/** Only two numbers or two texts can be ordered. */
function isOrdered(actual: Value | undefined, value: Compare['value'], test: (left: Value, right: Value) => boolean): boolean {
  const isComparable =
    (typeof actual === 'number' && typeof value === 'number') || (typeof actual === 'string' && typeof value === 'string');
  return isComparable && test(actual, value);
}
