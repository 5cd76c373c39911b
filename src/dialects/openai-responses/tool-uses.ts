import type { Usage, UsageReport } from '../../inference/usage.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { isBilledWebSearch } from './output-items.ts';

/**
 * Counts the tool uses that `usage` does not report: web searches, file searches, and the containers in which code ran.
 * A stream repeats an item, so it is counted once by its id.
 */
export class ToolUses {
  readonly #webSearches = new Set<string>();
  readonly #fileSearches = new Set<string>();
  readonly #containers = new Set<string>();

  /** @param position distinguishes items without an id */
  add(item: unknown, position: string): void {
    if (!isJsonObject(item)) return;
    const id = typeof item.id === 'string' ? item.id : `#${position}`;
    if (isBilledWebSearch(item)) this.#webSearches.add(id);
    if (item.status === 'failed') return;
    if (item.type === 'file_search_call') this.#fileSearches.add(id);
    // A container is billed per session, however often code ran in it.
    if (item.type === 'code_interpreter_call') this.#containers.add(typeof item.container_id === 'string' ? item.container_id : id);
  }

  /** The report with these counts. Undefined if there is neither a report nor a use. */
  complete(report: UsageReport | undefined): UsageReport | undefined {
    const counts: Usage = {
      ...(this.#webSearches.size > 0 && { webSearches: this.#webSearches.size }),
      ...(this.#fileSearches.size > 0 && { fileSearches: this.#fileSearches.size }),
      ...(this.#containers.size > 0 && { codeSessions: this.#containers.size }),
    };
    if (Object.keys(counts).length === 0) return report;
    const base = report ?? { usage: {}, raw: null, trustworthy: true };
    return { ...base, usage: { ...base.usage, ...counts } };
  }
}
