import type { EventEncoder } from '../../../dialects/chat-codec.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';

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
  encode(encoder: Pick<EventEncoder, 'write'>, event: InferenceEvent): string {
    const text = encoder.write(event);
    this.#wrote(event, text);
    return text;
  }

  #wrote(event: InferenceEvent, text: string): void {
    if (event.type !== 'delta' && event.type !== 'block-ended') return;
    const { index } = event;
    const characters = (event.type === 'delta' ? event.text.length : 0) + (this.#kept.get(index) ?? 0);
    if (text !== '') this.#characters += characters;
    if (text === '' && event.type === 'delta') this.#kept.set(index, characters);
    else this.#kept.delete(index);
  }
}
