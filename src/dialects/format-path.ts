import type { SchemaProblem } from '../platform/schema/schema-problem.ts';

/** The path of an item as `input[0]`. */
export const bracketedItem = (path: string, index: number): string => `${path}[${index}]`;

/** The path of a field as messages write it: `input[0].content[1].text`. Empty for the body itself. */
export function formatPath(path: SchemaProblem['path']): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}
