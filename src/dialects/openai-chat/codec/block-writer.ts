import type { Citation } from '../../../inference/citation.ts';
import { countCodePoints } from '../../../inference/count-code-points.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { MediaPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import { shownBy } from './reasoning-details.ts';

type Prose = { readonly kind: 'text' | 'refusal' | 'reasoning'; readonly index: number; text: string; isProven: boolean };

/**
 * Turns the content of a stream into valid events. One block of prose is open at a time; calls may overlap and have
 * indices of their own. Citations wait for the end of their text, because servers send them before, within or after it.
 */
export class BlockWriter {
  readonly #proofOrigin: string;
  #events: InferenceEvent[] = [];
  #nextIndex = 0;
  #prose: Prose | undefined;
  /** Characters of the finished text blocks. Citations count from the beginning of the whole content. */
  #textBefore = 0;
  #citations: Citation[] = [];
  /** The addresses of waiting citations with their counts, and the cited positions. */
  readonly #addresses = new Map<string, number>();
  readonly #positions = new Set<string>();
  hasRefusal = false;

  constructor(proofOrigin: string) {
    this.#proofOrigin = proofOrigin;
  }

  /** Returns the events since the last call. */
  take(): readonly InferenceEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }

  push(event: InferenceEvent): void {
    this.#events.push(event);
  }

  /** Adds text, a refusal or reasoning. An open block of another kind ends first. */
  say(kind: Prose['kind'], text: string): void {
    // Text after a proof is another piece of reasoning, because the proof covers everything before it.
    const continues = this.#prose?.kind === kind && !this.#prose.isProven;
    const prose = continues && this.#prose !== undefined ? this.#prose : this.#open(kind);
    prose.text += text;
    if (kind === 'refusal') this.hasRefusal = true;
    this.#events.push({ type: 'delta', index: prose.index, text });
  }

  /** Adds a proof of the open reasoning. Without open reasoning, it is a piece of reasoning without text. */
  prove(proof: Proof): void {
    const isOpen = this.#prose?.kind === 'reasoning' && !this.#prose.isProven;
    const prose = isOpen && this.#prose !== undefined ? this.#prose : this.#open('reasoning');
    prose.isProven = true;
    const { hidden: _hidden, ...visible } = proof;
    this.#events.push({ type: 'proof', index: prose.index, proof: prose.text === '' ? proof : visible });
  }

  /** Adds a proof of the open text. Without open text it is ignored. */
  proveText(proof: Proof): void {
    if (this.#prose?.kind === 'text') this.#events.push({ type: 'proof', index: this.#prose.index, proof });
  }

  cite(citation: Citation): void {
    const { source } = citation;
    if (source.kind === 'url') {
      const position = positionOf(citation, source.url);
      if (this.#positions.has(position)) return;
      this.#positions.add(position);
      this.#addresses.set(source.url, (this.#addresses.get(source.url) ?? 0) + 1);
    }
    this.#citations.push(citation);
  }

  /** Whether a citation of this address is waiting. */
  isCited(url: string): boolean {
    return this.#addresses.has(url);
  }

  part(part: MediaPart): void {
    this.endProse();
    this.#events.push({ type: 'part', index: this.#nextIndex++, part });
  }

  startCall(id: string, name: string): number {
    this.endProse();
    const index = this.#nextIndex++;
    this.#events.push({ type: 'block-started', index, block: { kind: 'tool-call', id, name } });
    return index;
  }

  /** @param isLast whether no more text can follow: then all remaining citations belong to this text */
  endProse(isLast = false): void {
    const prose = this.#prose;
    if (prose === undefined) return;
    this.#prose = undefined;
    if (prose.kind === 'text') this.#emitCitations(prose, isLast);
    if (prose.kind === 'reasoning' && !prose.isProven) {
      this.#events.push({ type: 'proof', index: prose.index, proof: shownBy(this.#proofOrigin) });
    }
    this.#events.push({ type: 'block-ended', index: prose.index });
  }

  #open(kind: Prose['kind']): Prose {
    this.endProse();
    const prose: Prose = { kind, index: this.#nextIndex++, text: '', isProven: false };
    this.#prose = prose;
    this.#events.push({ type: 'block-started', index: prose.index, block: { kind } });
    return prose;
  }

  #emitCitations({ index, text }: Prose, isLast: boolean): void {
    const length = countCodePoints(text);
    const before = this.#textBefore;
    this.#textBefore += length;
    const isHere = ({ start }: Citation): boolean => isLast || (start !== undefined && start < before + length);
    const here = this.#citations.filter(isHere);
    this.#citations = this.#citations.filter((citation) => !isHere(citation));
    for (const { start, end, ...citation } of here) {
      if (citation.source.kind === 'url') this.#forget(positionOf({ start }, citation.source.url), citation.source.url);
      const from = Math.min(Math.max((start ?? 0) - before, 0), length);
      const to = Math.min(Math.max((end ?? 0) - before, from), length);
      // A span outside the text, as some servers send, is ignored.
      const span = start === undefined || end === undefined || to === from ? {} : { start: from, end: to };
      this.#events.push({ type: 'citation', index, citation: { ...span, ...citation } });
    }
  }

  /** Removes a waiting citation: the same may come again for a later text. */
  #forget(position: string, url: string): void {
    this.#positions.delete(position);
    const remaining = (this.#addresses.get(url) ?? 1) - 1;
    if (remaining === 0) this.#addresses.delete(url);
    else this.#addresses.set(url, remaining);
  }
}

function positionOf({ start }: { readonly start?: number | undefined }, url: string): string {
  return `${start ?? ''} ${url}`;
}
