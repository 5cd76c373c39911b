import type { EventStep, InferenceEvent } from './inference-event.ts';

/** The sequence that is complete first; of two that end together, the one that begins earlier. However the text is cut into pieces, it is the same. */
function findSequence(text: string, sequences: readonly string[]): { readonly at: number; readonly sequence: string } | undefined {
  let found: { readonly at: number; readonly sequence: string } | undefined;
  let foundEnd = Infinity;
  for (const sequence of sequences) {
    const at = text.indexOf(sequence);
    if (at === -1) continue;
    const end = at + sequence.length;
    if (found !== undefined && (end > foundEnd || (end === foundEnd && at > found.at))) continue;
    found = { at, sequence };
    foundEnd = end;
  }
  return found;
}

/** How many characters at the end of the text may be the beginning of a sequence. */
function heldCharacters(text: string, sequences: readonly string[]): number {
  let held = 0;
  for (const sequence of sequences) {
    for (let length = Math.min(sequence.length - 1, text.length); length > held; length--) {
      if (text.endsWith(sequence.slice(0, length))) held = length;
    }
  }
  return held;
}

/**
 * Stop sequences for upstreams that have none: visible text passes up to the first sequence, and there the reply ends. What might be the beginning of a sequence is
 * held back until it is known. After `finished` nothing more comes, and the upstream can be stopped.
 */
export function cutAtSequences(sequences: readonly string[]): EventStep {
  const watched = sequences.filter((sequence) => sequence !== '');
  const texts = new Map<number, string>();
  const ended = { done: false };

  const readText = (index: number, text: string): readonly InferenceEvent[] => {
    const all = (texts.get(index) ?? '') + text;
    const found = findSequence(all, watched);
    if (found === undefined) {
      const kept = heldCharacters(all, watched);
      texts.set(index, all.slice(all.length - kept));
      return deltaOf(index, all.slice(0, all.length - kept));
    }
    ended.done = true;
    return [
      ...deltaOf(index, all.slice(0, found.at)),
      { type: 'block-ended', index },
      { type: 'finished', stopReason: 'stop-sequence', stopSequence: found.sequence },
    ];
  };

  return (event) => {
    if (ended.done) return [];
    if (event.type === 'block-started' && event.block.kind === 'text') texts.set(event.index, '');
    if (event.type === 'delta' && texts.has(event.index)) return readText(event.index, event.text);
    if (event.type !== 'block-ended') return [event];
    const held = texts.get(event.index) ?? '';
    texts.delete(event.index);
    return [...deltaOf(event.index, held), event];
  };
}

function deltaOf(index: number, text: string): readonly InferenceEvent[] {
  return text === '' ? [] : [{ type: 'delta', index, text }];
}
