import type { InferenceEvent } from '../../../inference/inference-event.ts';

/** An encoder of events, whose writing is empty where it has nothing to say yet. */
type WritesEvents<Written> = { readonly write: (event: InferenceEvent) => Written };

/**
 * Counts the characters of content that have reached the bytes of a client's reply. What an encoder keeps back, as it does with arguments that its dialect wants whole, counts when it
 * is written; what it never writes, as reasoning that its client does not see, never does.
 */
export class DeliveredCount {
  #characters = 0;
  /** By block: what was taken in and not written yet. */
  readonly #kept = new Map<number, number>();

  get characters(): number {
    return this.#characters;
  }

  /** What an encoder makes of an event. */
  encode<Written extends { readonly length: number }>(encoder: WritesEvents<Written>, event: InferenceEvent): Written {
    const written = encoder.write(event);
    this.#wrote(event, written.length > 0);
    return written;
  }

  #wrote(event: InferenceEvent, isWritten: boolean): void {
    if (event.type !== 'delta' && event.type !== 'block-ended') return;
    const { index } = event;
    const characters = (event.type === 'delta' ? event.text.length : 0) + (this.#kept.get(index) ?? 0);
    if (isWritten) this.#characters += characters;
    if (!isWritten && event.type === 'delta') this.#kept.set(index, characters);
    else this.#kept.delete(index);
  }
}
