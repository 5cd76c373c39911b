import type { Frame } from '../platform/frames.ts';
import { parseSseFrame } from '../platform/sse/parse-sse-frame.ts';

/** The bytes of a frame around its text, one character per byte. */
type Shape = {
  readonly head: string;
  /** From the quote that ends the text to the end of the frame, or to its padding. */
  readonly middle: string;
  /** From the quote that ends the padding. Undefined if the frames have none. */
  readonly tail: string | undefined;
};

/** How frames of a dialect contain text. */
export type TextForm = {
  /** Finds the beginnings of generated text in the JSON of a frame. */
  readonly place: RegExp;
  /**
   * The characters of text in a frame, if its only effect is to add them to those of the stream. Otherwise undefined.
   */
  readonly countText: (frame: Frame) => number | undefined;
};

/** Finds the strings of members with these names. */
export function stringsOf(...members: readonly string[]): RegExp {
  return new RegExp(`"(?:${members.join('|')})"\\s*:\\s*"`, 'g');
}

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const firstOfTwoBytes = 0x80;
/** Escapes of one character. Any other makes a frame unusual. */
const shortEscapes = new Set(Buffer.from('"\\/bfnrt'));

/** Vendors vary the length of events by a member without a meaning. */
const padding = stringsOf('obfuscation');
/** Texts of two lengths, to find out whether a place in a frame is that of its text. */
const probes = ['', 'weir'];

/**
 * Recognizes by their bytes the frames that differ from an earlier one only in their text. Most frames of a stream do.
 * They need no decoding and no parsing: everything else in them was read in the earlier frame.
 */
export class TextFrames {
  readonly #form: TextForm;
  #shape: Shape | undefined;
  /** Whether the shape has recognized anything. */
  #hasHit = true;
  /** Frames to wait for before the next shape is learned: more after each useless one. */
  #waits = 0;
  #waited = 0;
  /** Characters of text in the last recognized chunk. */
  characters = 0;

  constructor(form: TextForm) {
    this.#form = form;
  }

  /** Forgets the shape, because a different frame has changed what frames of the shape do. */
  forget(): void {
    this.#shape = undefined;
  }

  /** Learns the shape of a frame that was read, and added text to the stream. */
  learn(frame: Frame): void {
    if (this.#waited < this.#waits) {
      this.#waited += 1;
      return;
    }
    this.#waited = 0;
    this.#waits = this.#hasHit ? 0 : this.#waits * 2 + 1;
    this.#hasHit = false;
    this.#shape = this.#readShape(frame);
  }

  #readShape({ bytes }: Frame): Shape | undefined {
    const text = bytes.toString('latin1');
    if (!/^[^\r\n]/.test(text) || !/\n\r?\n$/.test(text)) return undefined;
    const start = findOnly(text, this.#form.place);
    const end = start === undefined ? -1 : endOfText(text, start);
    if (start === undefined || end === -1) return undefined;
    const head = text.slice(0, start);
    const rest = text.slice(end);
    const holdsText = probes.every((probe) => {
      const probed = parseSseFrame(Buffer.from(head + probe + rest, 'latin1'), false);
      return this.#form.countText(probed) === probe.length;
    });
    return holdsText ? { head, ...splitAtPadding(rest) } : undefined;
  }

  /**
   * Reads a chunk that consists of whole frames of the shape.
   * @returns the number of frames; 0 if the chunk has anything else. Then nothing was read.
   */
  read(chunk: Buffer): number {
    const shape = this.#shape;
    if (shape === undefined) return 0;
    const text = chunk.toString('latin1');
    let at = 0;
    let frames = 0;
    let characters = 0;
    for (; at < text.length; frames++) {
      if (!text.startsWith(shape.head, at)) return 0;
      const start = at + shape.head.length;
      const end = endOfText(text, start);
      if (end === -1 || !text.startsWith(shape.middle, end)) return 0;
      characters += countCharacters(chunk, text, start, end);
      at = end + shape.middle.length;
      if (shape.tail === undefined) continue;
      const paddingEnd = endOfText(text, at);
      if (paddingEnd === -1 || !text.startsWith(shape.tail, paddingEnd)) return 0;
      at = paddingEnd + shape.tail.length;
    }
    this.#hasHit = true;
    this.characters = characters;
    return frames;
  }
}

/** Where the only match ends. */
function findOnly(text: string, place: RegExp): number | undefined {
  const [first, second] = text.matchAll(place);
  return first === undefined || second !== undefined ? undefined : first.index + first[0].length;
}

function splitAtPadding(rest: string): Pick<Shape, 'middle' | 'tail'> {
  const start = findOnly(rest, padding);
  const end = start === undefined ? -1 : endOfText(rest, start);
  return end === -1 ? { middle: rest, tail: undefined } : { middle: rest.slice(0, start), tail: rest.slice(end) };
}

/** The quote that ends a text of JSON. -1 if there is none, or if the text has an unusual character. */
function endOfText(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < space) return -1;
    if (code !== backslash) continue;
    at += 1;
    if (!shortEscapes.has(text.charCodeAt(at))) return -1;
  }
  return -1;
}

/** Counts the characters of a text of JSON as those of the string that it is parsed to. */
function countCharacters(chunk: Buffer, text: string, start: number, end: number): number {
  let escapes = 0;
  let isAscii = true;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= firstOfTwoBytes) isAscii = false;
    else if (code === backslash) {
      escapes += 1;
      at += 1;
    }
  }
  return (isAscii ? end - start : chunk.toString('utf8', start, end).length) - escapes;
}
