/** Width and height of a glyph in pixels, without the gap after it. */
export const glyphWidth = 5;
export const glyphHeight = 7;

// Five columns per glyph, two hexadecimal digits per column, the lowest bit on top; from the space on, in the order of
// ASCII.
const columns = [
  '000000000000005f000000070007 00147f147f14242a7f2a12231308646236495620500005030000', // space to '
  '001c22410000 41221c002a1c7f1c2a08083e080800503000000808080808006060000020 10080402', // ( to /
  '3e5149453e00427f4000426151494621 41454b311814127f1027454545393c4a49493001710905033649494936064949291e', // digits
  '00363600000056360000081422410014141414140041221408020151 0906324979413e', // : to @
  '7e1111117e7f494949363e414141227f4141221c7f494949417f090909013e4149497a7f0808087f00417f41002040413f017f081422417f404040407f020c027f', // A to M
  '7f0408107f3e4141413e7f090909063e4151215e7f0919294646494949310101 7f01013f4040403f1f2040201f3f4038403f6314081463070870080761514945 43', // N to Z
  '007f4141000204081020 0041417f0004020102044040404040 0001020400', // [ to `
  '20545454787f484444383844444420384444487f3854545418087e0901020c5252523e7f0804047800447d40002040443d007f10284400 00417f40007c04180478', // a to m
  '7c0804047838444444387c14141408081414187c7c0804040848545454200 43f4440203c4020407c1c2040201c3c4030403c44281028440c5050503c4464544c44', // n to z
  '000836410000007f000000413608000804081008', // { to ~
]
  .join('')
  .replaceAll(' ', '');

const first = 0x20;
const last = 0x7e;
const box = [0x7f, 0x41, 0x41, 0x41, 0x7f];
const glyphs: ReadonlyMap<number, readonly number[]> = new Map(
  Array.from({ length: last - first + 1 }, (_, index) => [first + index, readGlyph(index)] as const),
);

/** The five columns of a character, the lowest bit of each on top. A missing character is an empty box. */
export function glyphOf(character: string): readonly number[] {
  return glyphs.get(character.codePointAt(0) ?? 0) ?? box;
}

function readGlyph(index: number): readonly number[] {
  const start = index * glyphWidth * 2;
  return Array.from({ length: glyphWidth }, (_, column) => Number.parseInt(columns.slice(start + column * 2, start + column * 2 + 2), 16));
}
