import { countOf, membersOf, objectOf, objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

/**
 * Collects the output of a response from its events, for a response that ends early. Completed items are stored as
 * received. The text, refusal, arguments and code of the open item are assembled from deltas, and the item is marked as
 * incomplete.
 */
export class PartialOutput {
  readonly #done = new Map<number, JsonObject>();
  #open:
    | { readonly index: number; readonly item: JsonObject; readonly parts: Map<number, { readonly part: JsonObject; text: string }> }
    | undefined;
  #argument = '';

  read(type: string, event: JsonObject): void {
    const index = countOf(event.output_index);
    if (index === undefined) return;
    if (type === 'response.output_item.added') {
      this.#open = { index, item: membersOf(event.item), parts: new Map() };
      this.#argument = '';
    } else if (type === 'response.output_item.done') {
      this.#done.set(index, membersOf(event.item));
      if (this.#open?.index === index) this.#open = undefined;
    } else if (this.#open?.index === index) this.#readPiece(type, event);
  }

  #readPiece(type: string, event: JsonObject): void {
    const parts = this.#open?.parts;
    const partIndex = countOf(event.content_index) ?? countOf(event.summary_index);
    if (type.endsWith('_part.added') && partIndex !== undefined) {
      const part = objectOf(event.part);
      if (part !== undefined) parts?.set(partIndex, { part, text: '' });
      return;
    }
    const delta = type.endsWith('.delta') ? textOf(event.delta) : undefined;
    if (delta === undefined) return;
    const open = partIndex === undefined ? undefined : parts?.get(partIndex);
    if (open !== undefined) open.text += delta;
    else this.#argument += delta;
  }

  /** The output index of the open item. Undefined if there is none. */
  get openIndex(): number | undefined {
    return this.#open?.index;
  }

  /** The items, the open one last. */
  items(): readonly JsonObject[] {
    const items = [...this.#done].toSorted(([a], [b]) => a - b).map(([, item]) => item);
    const open = this.#closeOpen();
    return open === undefined ? items : [...items, open];
  }

  #closeOpen(): JsonObject | undefined {
    if (this.#open === undefined) return undefined;
    const { item, parts } = this.#open;
    const written = [...parts.values()].map(({ part, text }) => ({ ...part, [part.type === 'refusal' ? 'refusal' : 'text']: text }));
    switch (textOf(item.type)) {
      case 'message':
        return { ...item, status: 'incomplete', content: written };
      case 'reasoning': {
        const summary = written.filter((part) => textOf(membersOf(part)['type']) === 'summary_text');
        const content = written.filter((part) => textOf(membersOf(part)['type']) === 'reasoning_text');
        return { ...item, summary: [...objectsOf(item.summary), ...summary], ...(content.length === 0 ? {} : { content }) };
      }
      case 'function_call':
        return { ...item, status: 'incomplete', arguments: this.#argument };
      case 'custom_tool_call':
        return { ...item, status: 'incomplete', input: this.#argument };
      case 'code_interpreter_call':
        return { ...item, status: 'incomplete', code: this.#argument };
      case undefined:
      default:
        return { ...item, status: 'incomplete' };
    }
  }
}
