import type { Source } from '../../../../tools/gateway-tool.ts';
import { countCodePoints } from '../../../../inference/count-code-points.ts';
import type { EventStep, InferenceEvent } from '../../../../inference/inference-event.ts';

/** A source's number as `formatSourceNumber` writes it, and with what models of one vendor add behind it. */
const mark = /【(\d{1,6})(?:[†:][^【】\n]{0,60})?】/g;
/** What may still become a mark at the end of a text. */
const begunMark = /【(?:\d{0,6}|\d{1,6}[†:][^【】\n]{0,60})$/;
/** Where a sentence ended and another begins. Scripts without spaces end theirs without one. */
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？]["'”’」』)]*\s*|\n+/gu;
/** White space before a mark: whether it goes with the mark is known when the mark has come. */
const trailingSpace = /[ \t]+$/;

/** One text whose marks are taken out. */
class CitedText {
  readonly #sources: ReadonlyMap<number, Source>;
  /** What has not been passed on: the beginning of a mark, or white space before one. */
  #held = '';
  /** Code points that were passed on. */
  #length = 0;
  /** The text since the last mark's end, as it was passed on: as much of it as the next citation may be of. */
  #open = '';
  /** Where the last cited span lies, and whether nothing has come since: marks in a row are of the same span. */
  #last: { readonly start: number; readonly end: number } | undefined;

  constructor(sources: ReadonlyMap<number, Source>) {
    this.#sources = sources;
  }

  /** Reads a piece; `isLast` when no more follows. */
  read(index: number, piece: string, isLast: boolean): InferenceEvent[] {
    const all = this.#held + piece;
    const events: InferenceEvent[] = [];
    let at = 0;
    for (const found of all.matchAll(mark)) {
      const source = this.#sources.get(Number(found[1]));
      // A number that no source has is the model's own text.
      if (source === undefined) continue;
      this.#pass(index, all.slice(at, found.index).replace(trailingSpace, ''), events);
      const span = this.#citedSpan();
      if (span.end > span.start) events.push({ type: 'citation', index, citation: { ...span, ...source.citation } });
      at = found.index + found[0].length;
    }
    const rest = all.slice(at);
    const kept = isLast ? rest.length : passableLength(rest);
    this.#held = rest.slice(kept);
    this.#pass(index, rest.slice(0, kept), events);
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

  /** From the end of the sentence before, or of the last mark, to here. */
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

/** A sentence is seldom longer. */
const openCharactersMax = 4000;

/** How much of a text's end can be passed on. */
function passableLength(text: string): number {
  const begun = begunMark.exec(text);
  const end = begun === null ? text.length : begun.index;
  const passable = trailingSpace.exec(text.slice(0, end))?.index ?? end;
  // Half a character would be counted as one.
  return /[\uD800-\uDBFF]$/.test(text.slice(0, passable)) ? passable - 1 : passable;
}

/**
 * Takes the numbers of sources out of the text and makes citations of them: each is of the sentence before it. Text without such numbers passes
 * unchanged, and is held back only where it may still become one.
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
