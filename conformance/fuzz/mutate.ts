/** From 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

const flipsMax = 16;
/** Bytes that affect parsers: signs, ends of ranges, and bytes that begin an element. */
const interesting = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x3c, 0x3e];

/**
 * A broken copy of a file. The first case is the file itself. The next are its truncations, evenly distributed over its
 * length, or every truncation if there are enough cases. The others have flipped bytes, and some of them removed,
 * repeated or moved pieces.
 */
export function mutate(file: Buffer, index: number, cases: number, random: Random): Buffer {
  const truncations = Math.min(file.length, Math.ceil(cases / 2));
  if (index < truncations) return Buffer.from(file.subarray(0, Math.ceil(((truncations - index) * file.length) / truncations)));
  const broken = Buffer.from(file);
  const flips = 1 + Math.floor(random() * flipsMax);
  for (let flip = 0; flip < flips; flip += 1) broken[Math.floor(random() * broken.length)] = pickByte(random);
  return random() < 0.3 ? rearrange(broken, random) : broken;
}

function pickByte(random: Random): number {
  const byte = Math.floor(random() * 256);
  return random() < 0.3 ? (interesting[byte % interesting.length] ?? 0) : byte;
}

function rearrange(file: Buffer, random: Random): Buffer {
  const start = Math.floor(random() * file.length);
  const piece = file.subarray(start, start + Math.floor(random() * 256));
  const at = Math.floor(random() * file.length);
  const without = random() < 0.5 ? Buffer.concat([file.subarray(0, start), file.subarray(start + piece.length)]) : file;
  return Buffer.concat([without.subarray(0, at), piece, without.subarray(at)]);
}
