import { fitCallId } from './call-ids.ts';

/**
 * Assigns the ids of calls in one request, for upstreams that refuse an id that occurs twice. A conversation may repeat
 * one.
 */
export class SentCallIds {
  readonly #rules: Parameters<typeof fitCallId>[1];
  /** The ids of sent calls, in order, and how many of them have a result, by the id in the conversation. */
  readonly #sent = new Map<string, { readonly ids: string[]; answered: number }>();
  /** The ids that were sent, and how often each was requested. */
  readonly #used = new Map<string, number>();

  /** @param rules what the upstream accepts as an id */
  constructor(rules: Parameters<typeof fitCallId>[1]) {
    this.#rules = rules;
  }

  /** The id of the next call with this id in the conversation. */
  ofCall(original: string): string {
    const id = this.#take(fitCallId(original, this.#rules));
    const sent = this.#sent.get(original);
    if (sent === undefined) this.#sent.set(original, { ids: [id], answered: 0 });
    else sent.ids.push(id);
    return id;
  }

  /** The id of the call that the next result with this id belongs to. */
  ofResult(original: string): string {
    const sent = this.#sent.get(original);
    const id = sent?.ids[sent.answered] ?? fitCallId(original, this.#rules);
    if (sent !== undefined) sent.answered += 1;
    return id;
  }

  /** Returns the id if it is unused, otherwise the id with the next free number. */
  #take(requested: string): string {
    let count = (this.#used.get(requested) ?? 0) + 1;
    let id = count === 1 ? requested : `${requested}_${count}`;
    while (count > 1 && this.#used.has(id)) id = `${requested}_${(count += 1)}`;
    this.#used.set(requested, count);
    if (id !== requested) this.#used.set(id, 1);
    return id;
  }
}
