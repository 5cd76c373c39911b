import { countOf, membersOf, objectOf, objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

/**
 * What the events of a response have said of its output so far: for a response that ends before its end. Items that are done are taken as they are; of the
 * one that is being written, text, refusal, arguments and code are put together from their pieces, and it is marked as incomplete.
 */
export class OutputSoFar {
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
    const place = countOf(event.content_index) ?? countOf(event.summary_index);
    if (type.endsWith('_part.added') && place !== undefined) {
      const part = objectOf(event.part);
      if (part !== undefined) parts?.set(place, { part, text: '' });
      return;
    }
    const delta = type.endsWith('.delta') ? textOf(event.delta) : undefined;
    if (delta === undefined) return;
    const open = place === undefined ? undefined : parts?.get(place);
    if (open !== undefined) open.text += delta;
    else this.#argument += delta;
  }

  /** The place of the item that is being written; undefined where none is. */
  get openIndex(): number | undefined {
    return this.#open?.index;
  }

  /** The items, the unfinished one last. */
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
