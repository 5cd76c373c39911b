import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { OfferedTools } from './offer-tools.ts';

type BlockEvent = Extract<InferenceEvent, { index: number }>;

/** The destination of the upstream's open block. */
type Route = 'shown' | 'hidden' | 'held';

/** Merges all rounds into the blocks of one reply for the client. */
export class MergedReply {
  readonly #offered: OfferedTools;
  #hasStarted = false;
  #next = 0;
  #route: Route = 'shown';
  #index = 0;
  /** Whether the model has called one of the gateway's tools in this round. */
  #hasToolCall = false;
  /** Calls of the client's functions, which are shown after the gateway's tools of the same turn. */
  #held: BlockEvent[] = [];

  constructor(offered: OfferedTools) {
    this.#offered = offered;
  }

  /** The events that the client gets for an event of a round now. Blocks are in order. */
  show(event: InferenceEvent): readonly InferenceEvent[] {
    if (event.type === 'started') {
      if (this.#hasStarted) return [];
      this.#hasStarted = true;
      return [event];
    }
    // All rounds together have one usage and one end.
    if (event.type === 'usage' || event.type === 'finished') return [];
    if (event.type === 'logprobs') return [event];
    if (event.type === 'part') return [{ ...event, index: this.takeIndex() }];
    if (event.type === 'block-started') {
      this.#route = this.#routeOf(event);
      if (this.#route === 'shown') this.#index = this.takeIndex();
    }
    if (this.#route === 'held') this.#held.push(event);
    return this.#route === 'shown' ? [{ ...event, index: this.#index }] : [];
  }

  #routeOf({ block }: Extract<InferenceEvent, { type: 'block-started' }>): Route {
    if (block.kind !== 'tool-call') return 'shown';
    if (this.#offered.has(block.name)) {
      this.#hasToolCall = true;
      return 'hidden';
    }
    return this.#hasToolCall ? 'held' : 'shown';
  }

  takeIndex(): number {
    return this.#next++;
  }

  /** Returns the held calls after the tools of the round have run. */
  release(): readonly InferenceEvent[] {
    const held = this.#held;
    this.#held = [];
    this.#hasToolCall = false;
    return held.map((event) => {
      if (event.type === 'block-started') this.#index = this.takeIndex();
      return { ...event, index: this.#index };
    });
  }
}
