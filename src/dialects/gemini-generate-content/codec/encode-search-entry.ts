import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Searches have few queries and findings; the output of an endless model is limited. */
const shownMax = 64;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

/** Escapes text for every place in a page: in an element and in a quoted attribute. */
function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/[&<>"'`]/g, (character) => entities[character] ?? '');
}

/** Returns the address of a web page. Undefined for scripts, data and everything else. */
function pageAddress(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}

const chipStyle = 'display:inline-block;margin:2px;padding:4px 12px;border:1px solid;border-radius:16px;text-decoration:none';

function writeChip(query: string, address: string | undefined): string {
  const words = escapeHtml(query);
  if (address === undefined) return `<span style="${chipStyle}">${words}</span>`;
  return `<a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer nofollow" style="${chipStyle}">${words}</a>`;
}

/**
 * Writes the widget that shows the search: a chip for each query, which links to its first page, and the same as data:
 * `[query, address]` for every page, in base64. Queries and addresses come from models and from the web, so no part of
 * them is markup, and only addresses of pages are links. Undefined without queries.
 */
export function encodeSearchEntry(searches: readonly ServerToolPart[]): JsonObject | undefined {
  const chips: string[] = [];
  const pairs: (readonly [string, string])[] = [];
  for (const { input, results = [] } of searches) {
    const addresses = [...new Set(results.map(({ url }) => pageAddress(url)).filter((address) => address !== undefined))];
    for (const query of input) {
      chips.push(writeChip(query, addresses[0]));
      for (const address of addresses.length === 0 ? [''] : addresses) pairs.push([query, address]);
    }
  }
  if (chips.length === 0) return undefined;
  const renderedContent = `<div class="search-entry-point">${[...new Set(chips)].slice(0, shownMax).join('')}</div>`;
  const sdkBlob = Buffer.from(JSON.stringify(pairs.slice(0, shownMax))).toString('base64');
  return { renderedContent, sdkBlob };
}
