import type { EventStep, InferenceEvent } from './inference-event.ts';

/**
 * How many stop sequences the gateway searches for in one reply, and their total length. Each of them is compared with
 * every character of the reply.
 */
export const watchedSequencesMax = { count: 32, characters: 8192 } as const;

/**
 * Searches a text for one sequence, however the text is split into pieces. It reads every character once (Knuth, Morris
 * and Pratt).
 */
class SequenceWatch {
  readonly sequence: string;
  /** For each prefix of the sequence, the length of the longest shorter prefix that it ends with. */
  readonly #fallbacks: Int32Array;
  /** How many characters at the end of the text match the beginning of the sequence. */
  matched = 0;

  constructor(sequence: string) {
    this.sequence = sequence;
    this.#fallbacks = new Int32Array(sequence.length + 1);
    let length = 0;
    for (let at = 1; at < sequence.length; at++) {
      length = this.#advance(length, sequence.charCodeAt(at));
      this.#fallbacks[at + 1] = length;
    }
  }

  #advance(matched: number, character: number): number {
    let length = matched;
    while (length > 0 && this.sequence.charCodeAt(length) !== character) length = this.#fallbacks[length] ?? 0;
    return this.sequence.charCodeAt(length) === character ? length + 1 : length;
  }

  /** Reads up to `limit` characters. Returns the number of characters up to the end of the first occurrence. */
  read(piece: string, limit: number): number | undefined {
    const { sequence } = this;
    for (let at = 0; at < limit; at++) {
      if (this.matched === 0 && piece.charCodeAt(at) !== sequence.charCodeAt(0)) {
        // Most text matches no first character, so `indexOf` skips it quickly.
        at = piece.indexOf(sequence.charAt(0), at);
        if (at === -1 || at >= limit) return undefined;
      }
      this.matched = this.#advance(this.matched, piece.charCodeAt(at));
      if (this.matched === sequence.length) return at + 1;
    }
    return undefined;
  }
}

type Found = { readonly sequence: string; readonly end: number };

/** One text that is searched for all sequences. */
class WatchedText {
  readonly #watches: readonly SequenceWatch[];
  /** The end of the text, which may be the beginning of a sequence and is therefore held. */
  held = '';

  constructor(sequences: readonly string[]) {
    this.#watches = sequences.map((sequence) => new SequenceWatch(sequence));
  }

  /** Returns the text that can be passed on, and the sequence that ended it. */
  read(piece: string): { readonly passed: string; readonly found?: string } {
    const found = this.#find(piece);
    const all = this.held + piece;
    if (found !== undefined) {
      const end = this.held.length + found.end;
      return { passed: all.slice(0, end - found.sequence.length), found: found.sequence };
    }
    const heldCharacters = this.#watches.reduce((most, { matched }) => Math.max(most, matched), 0);
    this.held = all.slice(all.length - heldCharacters);
    return { passed: all.slice(0, all.length - heldCharacters) };
  }

  /** Finds the sequence that is complete first. If two end at the same character, the earlier start wins. */
  #find(piece: string): Found | undefined {
    let found: Found | undefined;
    for (const watch of this.#watches) {
      const end = watch.read(piece, found?.end ?? piece.length);
      if (end === undefined) continue;
      const isEarlier = found === undefined || end < found.end || watch.sequence.length > found.sequence.length;
      if (isEarlier) found = { sequence: watch.sequence, end };
    }
    return found;
  }
}

/**
 * Applies stop sequences for upstreams that do not support them. Visible text passes up to the first sequence, where
 * the reply ends. Text that may be the beginning of a sequence is held until that is known. No event follows
 * `finished`, and the upstream can be stopped. The cost is the length of the text times the number of sequences, which
 * the caller bounds by `watchedSequencesMax`.
 */
export function cutAtSequences(sequences: readonly string[]): EventStep {
  const watched = [...new Set(sequences)].filter((sequence) => sequence !== '');
  const texts = new Map<number, WatchedText>();
  let hasEnded = false;

  const readText = (text: WatchedText, index: number, piece: string): readonly InferenceEvent[] => {
    const { passed, found } = text.read(piece);
    if (found === undefined) return deltaOf(index, passed);
    hasEnded = true;
    return [
      ...deltaOf(index, passed),
      { type: 'block-ended', index },
      { type: 'finished', stopReason: 'stop-sequence', stopSequence: found },
    ];
  };

  return (event) => {
    // Probabilities would reveal the text that was cut off.
    if (hasEnded || event.type === 'logprobs') return [];
    if (event.type === 'block-started' && event.block.kind === 'text') texts.set(event.index, new WatchedText(watched));
    const text = 'index' in event ? texts.get(event.index) : undefined;
    if (text === undefined || !('index' in event)) return [event];
    if (event.type === 'delta') return readText(text, event.index, event.text);
    if (event.type !== 'block-ended') return [event];
    texts.delete(event.index);
    return [...deltaOf(event.index, text.held), event];
  };
}

function deltaOf(index: number, text: string): readonly InferenceEvent[] {
  return text === '' ? [] : [{ type: 'delta', index, text }];
}
