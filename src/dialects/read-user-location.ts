import type { WebSearchTool } from '../inference/inference-request.ts';
import { filledText, membersOf } from '../platform/json/json-readers.ts';

const names = ['city', 'region', 'country', 'timezone'] as const;

/** Reads the location from which a web search is made; vendors use the same names. Undefined if there is none. */
export function readUserLocation(value: unknown): WebSearchTool['userLocation'] {
  const location = membersOf(value);
  const fields = names.flatMap((name) => {
    const text = filledText(location[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
