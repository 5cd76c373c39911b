import type { SchemaProblem } from '../platform/schema/schema-problem.ts';

/** The place of an item as `input[0]`. */
export const bracketedItem = (path: string, index: number): string => `${path}[${index}]`;

/** The path of a field as it stands in a message: `input[0].content[1].text`; empty for the body itself. */
export function formatPath(path: SchemaProblem['path']): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}
