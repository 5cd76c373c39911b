import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { OfferedTools } from './offer-tools.ts';

type BlockEvent = Extract<InferenceEvent, { index: number }>;

/** Where the open block of the upstream goes. */
type Route = 'shown' | 'hidden' | 'kept';

/** What the client sees of all rounds, as the blocks of one reply. */
export class ShownReply {
  readonly #offered: OfferedTools;
  #hasStarted = false;
  #next = 0;
  #route: Route = 'shown';
  #index = 0;
  /** Whether the model has called one of the gateway's tools in this round. */
  #hasToolCall = false;
  /** Calls of the client's functions, which come after what the gateway's tools of the same turn did. */
  #kept: BlockEvent[] = [];

  constructor(offered: OfferedTools) {
    this.#offered = offered;
  }

  /** What of a round's event the client sees at once. Blocks come in line. */
  show(event: InferenceEvent): readonly InferenceEvent[] {
    if (event.type === 'started') {
      if (this.#hasStarted) return [];
      this.#hasStarted = true;
      return [event];
    }
    // Of all rounds together there is one sum and one end.
    if (event.type === 'usage' || event.type === 'finished') return [];
    if (event.type === 'logprobs') return [event];
    if (event.type === 'part') return [{ ...event, index: this.takeIndex() }];
    if (event.type === 'block-started') {
      this.#route = this.#routeOf(event);
      if (this.#route === 'shown') this.#index = this.takeIndex();
    }
    if (this.#route === 'kept') this.#kept.push(event);
    return this.#route === 'shown' ? [{ ...event, index: this.#index }] : [];
  }

  #routeOf({ block }: Extract<InferenceEvent, { type: 'block-started' }>): Route {
    if (block.kind !== 'tool-call') return 'shown';
    if (this.#offered.has(block.name)) {
      this.#hasToolCall = true;
      return 'hidden';
    }
    return this.#hasToolCall ? 'kept' : 'shown';
  }

  takeIndex(): number {
    return this.#next++;
  }

  /** What was kept, when the tools of the round have run. */
  release(): readonly InferenceEvent[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#hasToolCall = false;
    return kept.map((event) => {
      if (event.type === 'block-started') this.#index = this.takeIndex();
      return { ...event, index: this.#index };
    });
  }
}
