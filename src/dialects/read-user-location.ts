import type { WebSearchTool } from '../inference/inference-request.ts';
import { filledText, membersOf } from '../platform/json/json-readers.ts';

const names = ['city', 'region', 'country', 'timezone'] as const;

/** Reads where a web search shall be thought to be made from: vendors agree on the names. Undefined where nothing is said. */
export function readUserLocation(value: unknown): WebSearchTool['userLocation'] {
  const location = membersOf(value);
  const said = names.flatMap((name) => {
    const words = filledText(location[name]);
    return words === undefined ? [] : [[name, words] as const];
  });
  return said.length === 0 ? undefined : Object.fromEntries(said);
}
