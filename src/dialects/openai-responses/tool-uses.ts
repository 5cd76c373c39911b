import type { Usage, UsageReport } from '../../inference/usage.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { isBilledWebSearch } from './output-items.ts';

/**
 * Counts what a response says its vendor's tools did, which `usage` does not tell: web searches, searches of files, and the containers that code ran in. An item is told
 * several times in a stream, and is counted once by its id.
 */
export class ToolUses {
  readonly #webSearches = new Set<string>();
  readonly #fileSearches = new Set<string>();
  readonly #containers = new Set<string>();

  /** @param place what tells items without an id apart */
  add(item: unknown, place: string): void {
    if (!isJsonObject(item)) return;
    const id = typeof item.id === 'string' ? item.id : `#${place}`;
    if (isBilledWebSearch(item)) this.#webSearches.add(id);
    if (item.status === 'failed') return;
    if (item.type === 'file_search_call') this.#fileSearches.add(id);
    // A container costs by the session, however many pieces of code ran in it.
    if (item.type === 'code_interpreter_call') this.#containers.add(typeof item.container_id === 'string' ? item.container_id : id);
  }

  /** The report with these counts. Undefined where there is no report and no use. */
  complete(report: UsageReport | undefined): UsageReport | undefined {
    const counts: Usage = {
      ...(this.#webSearches.size > 0 && { webSearches: this.#webSearches.size }),
      ...(this.#fileSearches.size > 0 && { fileSearches: this.#fileSearches.size }),
      ...(this.#containers.size > 0 && { codeSessions: this.#containers.size }),
    };
    if (Object.keys(counts).length === 0) return report;
    const known = report ?? { usage: {}, raw: null, trustworthy: true };
    return { ...known, usage: { ...known.usage, ...counts } };
  }
}
