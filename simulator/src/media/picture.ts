import { glyphHeight, glyphOf, glyphWidth } from './bitmap-font.ts';

/** Edge of a macroblock in luma samples. */
export const blockSize = 16;

/** A colour of video: luma 16 to 235, chroma 16 to 240 around 128. */
export type Colour = readonly [luma: number, blue: number, red: number];

/** A image in 4:2:0, padded to whole macroblocks. */
export type Picture = {
  /** The visible size in pixels; both are even. */
  readonly width: number;
  readonly height: number;
  readonly blocksWide: number;
  readonly blocksHigh: number;
  /** Luma, 16 × `blocksWide` samples per row. */
  readonly luma: Uint8Array;
  /** Chroma, 8 × `blocksWide` samples per row. */
  readonly blue: Uint8Array;
  readonly red: Uint8Array;
};

export type Rectangle = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/** A image of one colour. Width and height are even and positive. */
export function createPicture(width: number, height: number, colour: Colour): Picture {
  const blocksWide = Math.ceil(width / blockSize);
  const blocksHigh = Math.ceil(height / blockSize);
  const blocks = blocksWide * blocksHigh;
  return {
    width,
    height,
    blocksWide,
    blocksHigh,
    luma: new Uint8Array(blocks * 256).fill(colour[0]),
    blue: new Uint8Array(blocks * 64).fill(colour[1]),
    red: new Uint8Array(blocks * 64).fill(colour[2]),
  };
}

/**
 * Fills a rectangle, cut to the visible part of the image. Its edges are rounded to even pixels, because chroma is
 * halved.
 */
export function fillRectangle(picture: Picture, { left, top, width, height }: Rectangle, colour: Colour): void {
  const x = Math.max(0, left >> 1);
  const y = Math.max(0, top >> 1);
  const right = Math.min(picture.width, left + width) >> 1;
  const bottom = Math.min(picture.height, top + height) >> 1;
  const stride = picture.blocksWide * 8;
  for (let row = y; row < bottom; row++) {
    picture.blue.fill(colour[1], row * stride + x, row * stride + right);
    picture.red.fill(colour[2], row * stride + x, row * stride + right);
    picture.luma.fill(colour[0], row * 4 * stride + x * 2, row * 4 * stride + right * 2);
    picture.luma.fill(colour[0], (row * 4 + 2) * stride + x * 2, (row * 4 + 2) * stride + right * 2);
  }
}

/** Width in pixels of a text of this many characters at a scale. */
export function textWidth(characters: number, scale: number): number {
  return characters * (glyphWidth + 1) * scale;
}

/**
 * Draws one line of text; each pixel of the font becomes a square of `scale` pixels. The text is cut at the right edge.
 */
export function drawText(picture: Picture, text: string, at: { left: number; top: number; scale: number; luma: number }): void {
  const { scale, luma, top } = at;
  const stride = picture.blocksWide * blockSize;
  let left = at.left;
  for (const character of text) {
    if (left + glyphWidth * scale > picture.width || top + glyphHeight * scale > picture.height) return;
    for (const [column, bits] of glyphOf(character).entries()) {
      for (let row = 0; row < glyphHeight * scale; row++) {
        if (((bits >> Math.floor(row / scale)) & 1) === 0) continue;
        const start = (top + row) * stride + left + column * scale;
        picture.luma.fill(luma, start, start + scale);
      }
    }
    left += textWidth(1, scale);
  }
}
