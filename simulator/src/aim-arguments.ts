import type { JsonRecord } from './simulated-vendor.ts';

const queryCharactersMax = 120;
const urlsMax = 3;

/**
 * Arguments as a model would write them for functions with a known purpose: a search gets the user's text, and pages
 * are read whose addresses are in it. Arguments of other functions stay unchanged.
 */
export function aimArguments(toolName: string, args: JsonRecord, lastUserText: string): JsonRecord {
  if (toolName === 'web_search' && typeof args['query'] === 'string') {
    const query = Array.from(
      lastUserText
        .replace(/\[\[simulator [^\]]*\]\]/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    );
    return query.length === 0 ? args : { query: query.slice(0, queryCharactersMax).join('') };
  }
  if (toolName === 'fetch_url' && Array.isArray(args['urls'])) {
    const urls = lastUserText.match(/https?:\/\/[^\s<>"')\]]{3,2000}/g) ?? [];
    return urls.length === 0 ? args : { urls: urls.slice(0, urlsMax) };
  }
  return args;
}
