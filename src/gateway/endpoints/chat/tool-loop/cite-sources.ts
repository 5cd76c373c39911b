import type { Source } from '../../../../tools/gateway-tool.ts';
import { countCodePoints } from '../../../../inference/count-code-points.ts';
import type { EventStep, InferenceEvent } from '../../../../inference/inference-event.ts';

/** The number of a source as `formatSourceNumber` writes it, with the suffix that models of one vendor add. */
const mark = /【(\d{1,6})(?:[†:][^【】\n]{0,60})?】/g;
/** A part at the end of a text that may still become a mark. */
const partialMark = /【(?:\d{0,6}|\d{1,6}[†:][^【】\n]{0,60})$/;
/** The boundary between two sentences. Scripts without spaces need no space there. */
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？]["'”’」』)]*\s*|\n+/gu;
/** White space before a mark. It is removed with the mark, if a mark follows. */
const trailingSpace = /[ \t]+$/;

/** One text from which the marks are removed. */
class CitedText {
  readonly #sources: ReadonlyMap<number, Source>;
  /** Text that has not been passed on: the beginning of a mark, or white space before one. */
  #held = '';
  /** Code points that were passed on. */
  #length = 0;
  /** The text since the last mark that was passed on, up to the length that the next citation can have. */
  #open = '';
  /** The last cited span if no text came since: marks in a row share the span. */
  #last: { readonly start: number; readonly end: number } | undefined;

  constructor(sources: ReadonlyMap<number, Source>) {
    this.#sources = sources;
  }

  /** Reads a piece; `isLast` if no more follows. */
  read(index: number, piece: string, isLast: boolean): InferenceEvent[] {
    const all = this.#held + piece;
    const events: InferenceEvent[] = [];
    let at = 0;
    for (const found of all.matchAll(mark)) {
      const source = this.#sources.get(Number(found[1]));
      // A number without a source is the model's own text.
      if (source === undefined) continue;
      this.#pass(index, all.slice(at, found.index).replace(trailingSpace, ''), events);
      const span = this.#citedSpan();
      if (span.end > span.start) events.push({ type: 'citation', index, citation: { ...span, ...source.citation } });
      at = found.index + found[0].length;
    }
    const rest = all.slice(at);
    const passable = isLast ? rest.length : passableLength(rest);
    this.#held = rest.slice(passable);
    this.#pass(index, rest.slice(0, passable), events);
    return events;
  }

  #pass(index: number, text: string, events: InferenceEvent[]): void {
    if (text === '') return;
    events.push({ type: 'delta', index, text });
    this.#length += countCodePoints(text);
    this.#open += text;
    if (text.trim() !== '') this.#last = undefined;
    if (this.#open.length > openCharactersMax) this.#open = this.#open.slice(-openCharactersMax).replace(/^[\uDC00-\uDFFF]/, '');
  }

  /** The span from the end of the sentence before, or of the last mark, to here. */
  #citedSpan(): { readonly start: number; readonly end: number } {
    if (this.#last !== undefined) return this.#last;
    const text = this.#open.trimEnd();
    let begin = 0;
    for (const found of text.matchAll(sentenceEnd)) if (found.index + found[0].length < text.length) begin = found.index + found[0].length;
    const cited = this.#open.slice(begin).replace(/^[\s.,;:!?。，；：！？]+(?=\S)/u, '');
    const start = this.#length - countCodePoints(cited);
    const end = this.#length - countCodePoints(this.#open.slice(text.length));
    this.#open = '';
    this.#last = { start: Math.min(start, end), end };
    return this.#last;
  }
}

/** Sentences are seldom longer. */
const openCharactersMax = 4000;

/** The length of a text without the end that must be held. */
function passableLength(text: string): number {
  const partial = partialMark.exec(text);
  const end = partial === null ? text.length : partial.index;
  const passable = trailingSpace.exec(text.slice(0, end))?.index ?? end;
  // Half a surrogate pair would be counted as a character.
  return /[\uD800-\uDBFF]$/.test(text.slice(0, passable)) ? passable - 1 : passable;
}

/**
 * Removes the numbers of sources from the text and turns them into citations of the sentence before. Other text passes
 * unchanged, and is held only while it may still become a number.
 * @param sources grows while tools run
 */
export function citeSources(sources: ReadonlyMap<number, Source>): EventStep {
  const texts = new Map<number, CitedText>();
  return (event) => {
    if (event.type === 'block-started' && event.block.kind === 'text' && sources.size > 0) texts.set(event.index, new CitedText(sources));
    const text = 'index' in event ? texts.get(event.index) : undefined;
    if (text === undefined || !('index' in event)) return [event];
    if (event.type === 'delta') return text.read(event.index, event.text, false);
    if (event.type !== 'block-ended') return [event];
    texts.delete(event.index);
    return [...text.read(event.index, '', true), event];
  };
}
