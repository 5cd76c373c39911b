import { createBitWriter, type BitWriter } from './h264-bits.ts';
import { blockSize, type Picture, type Rectangle } from './picture.ts';

/**
 * A lossless encoder of drawn images in the Constrained Baseline profile of H.264 (ITU-T H.264). A block that a
 * neighbour predicts exactly is coded as that prediction, a changed or new one as raw samples (I_PCM), an unchanged one
 * is skipped. There is no residual, so there is neither a transform nor an entropy table.
 */
export type PictureEncoder = {
  /** The data that a player needs first: the AVCDecoderConfigurationRecord (ISO/IEC 14496-15). */
  readonly configuration: Uint8Array;
  /** `avc1.…`, RFC 6381. */
  readonly codec: string;
  /** Encodes an image on its own. The frame has a four-byte length before its unit. */
  readonly keyFrame: (picture: Picture) => Uint8Array;
  /** Encodes a frame that equals the one before, except inside the rectangle. */
  readonly nextFrame: (picture: Picture, changed?: Rectangle) => Uint8Array;
};

const frameNumberBits = 8;
const pcmBytes = 384;
/** mb_type of I_PCM in an I slice, and the offset of the intra types in a P slice (tables 7-11 and 7-13). */
const pcmType = 25;
const intraTypesInP = 5;
/** nal_ref_idc and nal_unit_type of each unit. */
const units = { sequence: 0x67, picture: 0x68, key: 0x65, next: 0x41 } as const;

/** There are at most `framesPerSecond` frames per second, which determines the level. Width and height are even. */
export function createPictureEncoder(width: number, height: number, framesPerSecond: number): PictureEncoder {
  const level = levelOf(Math.ceil(width / blockSize) * Math.ceil(height / blockSize), framesPerSecond);
  const sequence = writeSequence(width, height, framesPerSecond, level);
  const parameters = writeParameters();
  let frameNumber = 0;
  let shown: Picture | undefined;
  return {
    configuration: writeConfiguration(sequence, parameters),
    codec: `avc1.42c0${level.toString(16).padStart(2, '0')}`,
    keyFrame(picture) {
      frameNumber = 0;
      shown = copyOf(picture);
      return withLength(writeKeySlice(picture));
    },
    nextFrame(picture, changed) {
      frameNumber = (frameNumber + 1) % 2 ** frameNumberBits;
      const blocks = changed === undefined ? [] : blocksWithin(picture, changed).filter((block) => !isAlike(picture, shown, block));
      if (blocks.length > 0) shown = copyOf(picture);
      return withLength(writeNextSlice(picture, frameNumber, blocks));
    },
  };
}

/**
 * The lowest level that permits this frame size at this rate (table A-1): macroblocks per frame, macroblocks per
 * second.
 */
function levelOf(blocks: number, framesPerSecond: number): number {
  const levels = [
    [30, 1620, 40_500],
    [31, 3600, 108_000],
    [32, 5120, 216_000],
    [40, 8192, 245_760],
    [51, 36_864, 983_040],
  ] as const;
  return levels.find(([, size, rate]) => blocks <= size && blocks * framesPerSecond <= rate)?.[0] ?? 52;
}

/** Sequence parameter set (7.3.2.1.1 and E.1.1). */
function writeSequence(width: number, height: number, framesPerSecond: number, level: number): Uint8Array {
  const writer = createBitWriter(units.sequence, 64);
  const blocksWide = Math.ceil(width / blockSize);
  const blocksHigh = Math.ceil(height / blockSize);
  writer.bits(66, 8);
  // The constraints of both the Baseline and the Main profile are met, which makes it Constrained Baseline.
  writer.bits(0xc0, 8);
  writer.bits(level, 8);
  writer.unsigned(0);
  writer.unsigned(frameNumberBits - 4);
  // Frames are shown in the order in which they are coded.
  writer.unsigned(2);
  writer.unsigned(1);
  writer.bits(0, 1);
  writer.unsigned(blocksWide - 1);
  writer.unsigned(blocksHigh - 1);
  writer.bits(0b11, 2);
  const cropRight = (blocksWide * blockSize - width) / 2;
  const cropBottom = (blocksHigh * blockSize - height) / 2;
  const isCropped = cropRight > 0 || cropBottom > 0;
  writer.bits(isCropped ? 1 : 0, 1);
  if (isCropped) for (const offset of [0, cropRight, 0, cropBottom]) writer.unsigned(offset);
  writer.bits(1, 1);
  writeUsability(writer, framesPerSecond);
  return writer.finish();
}

/** Square pixels, limited range, BT.709, a fixed rate, and no reordering of frames. */
function writeUsability(writer: BitWriter, framesPerSecond: number): void {
  writer.bits(1, 1);
  writer.bits(1, 8);
  writer.bits(0, 1);
  writer.bits(1, 1);
  writer.bits(5, 3);
  writer.bits(0, 1);
  writer.bits(1, 1);
  for (let item = 0; item < 3; item++) writer.bits(1, 8);
  writer.bits(0, 1);
  writer.bits(1, 1);
  writer.bits(1, 32);
  writer.bits(framesPerSecond * 2, 32);
  writer.bits(1, 1);
  writer.bits(0, 3);
  writer.bits(0b11, 2);
  for (const value of [0, 0, 10, 10, 0, 1]) writer.unsigned(value);
}

/** Picture parameter set (7.3.2.2): CAVLC, and deblocking is controlled by the slices. */
function writeParameters(): Uint8Array {
  const writer = createBitWriter(units.picture, 16);
  writer.unsigned(0);
  writer.unsigned(0);
  writer.bits(0, 2);
  for (let item = 0; item < 3; item++) writer.unsigned(0);
  writer.bits(0, 3);
  for (let item = 0; item < 3; item++) writer.unsigned(0);
  writer.bits(0b100, 3);
  return writer.finish();
}

function writeConfiguration(sequence: Uint8Array, parameters: Uint8Array): Uint8Array {
  const lengthOf = (unit: Uint8Array): readonly [number, number] => [unit.length >> 8, unit.length & 0xff];
  return Uint8Array.from([
    1,
    ...sequence.subarray(1, 4),
    // Reserved bits, and lengths of four bytes; then one set of each kind.
    0xff,
    0xe1,
    ...lengthOf(sequence),
    ...sequence,
    1,
    ...lengthOf(parameters),
    ...parameters,
  ]);
}

function withLength(unit: Uint8Array): Uint8Array {
  const frame = new Uint8Array(unit.length + 4);
  new DataView(frame.buffer).setUint32(0, unit.length);
  frame.set(unit, 4);
  return frame;
}

/** Slice header (7.3.3) according to the sets above: no reordering, no deblocking. */
function writeSliceHeader(writer: BitWriter, frameNumber: number, isKey: boolean): void {
  writer.unsigned(0);
  writer.unsigned(isKey ? 7 : 5);
  writer.unsigned(0);
  writer.bits(frameNumber, frameNumberBits);
  if (isKey) {
    writer.unsigned(0);
    writer.bits(0, 2);
  } else {
    writer.bits(0, 3);
  }
  // slice_qp_delta 0; then deblocking off, because the samples are exact already.
  writer.bits(1, 1);
  writer.unsigned(1);
}

function writeKeySlice(picture: Picture): Uint8Array {
  const { blocksWide, blocksHigh } = picture;
  const writer = createBitWriter(units.key, blocksWide * blocksHigh * (pcmBytes + 3) + 32);
  writeSliceHeader(writer, 0, true);
  const isPcm = new Uint8Array(blocksWide * blocksHigh);
  for (let block = 0; block < isPcm.length; block++) {
    const column = block % blocksWide;
    const row = (block - column) / blocksWide;
    const luma = predict(picture.luma, blocksWide, column, row, blockSize);
    const blue = predict(picture.blue, blocksWide, column, row, blockSize / 2);
    const red = predict(picture.red, blocksWide, column, row, blockSize / 2);
    const fromLeft = blue.fromLeft && red.fromLeft;
    if (!(luma.fromLeft || luma.fromTop) || !(fromLeft || (blue.fromTop && red.fromTop))) {
      isPcm[block] = 1;
      writePcm(writer, picture, block, pcmType);
      continue;
    }
    // I_16x16 without coefficients: 1 + the luma mode (0 vertical, 1 horizontal), then the chroma mode (1 horizontal, 2
    // vertical), then mb_qp_delta 0.
    writer.unsigned(luma.fromLeft ? 2 : 1);
    writer.unsigned(fromLeft ? 1 : 2);
    writer.bits(1, 1);
    // No DC coefficient. The code depends on the number of the neighbours' coefficients, and raw samples count as
    // sixteen (9.2.1).
    const besidePcm = (column > 0 && isPcm[block - 1] === 1) || (row > 0 && isPcm[block - blocksWide] === 1);
    if (besidePcm) writer.bits(0b000011, 6);
    else writer.bits(1, 1);
  }
  return writer.finish();
}

/** Whether a block of a plane repeats its left neighbour's last column, or its upper neighbour's last row. */
function predict(
  plane: Uint8Array,
  blocksWide: number,
  column: number,
  row: number,
  size: number,
): { readonly fromLeft: boolean; readonly fromTop: boolean } {
  const stride = blocksWide * size;
  const start = row * size * stride + column * size;
  let fromLeft = column > 0;
  let fromTop = row > 0;
  for (let y = 0; y < size && (fromLeft || fromTop); y++) {
    const line = start + y * stride;
    for (let x = 0; x < size && (fromLeft || fromTop); x++) {
      const sample = plane[line + x];
      if (fromLeft && sample !== plane[line - 1]) fromLeft = false;
      if (fromTop && sample !== plane[start - stride + x]) fromTop = false;
    }
  }
  return { fromLeft, fromTop };
}

function writeNextSlice(picture: Picture, frameNumber: number, blocks: readonly number[]): Uint8Array {
  const { blocksWide, blocksHigh } = picture;
  const writer = createBitWriter(units.next, blocks.length * (pcmBytes + 8) + 32);
  writeSliceHeader(writer, frameNumber, false);
  let next = 0;
  for (const block of blocks) {
    writer.unsigned(block - next);
    writePcm(writer, picture, block, pcmType + intraTypesInP);
    next = block + 1;
  }
  if (next < blocksWide * blocksHigh) writer.unsigned(blocksWide * blocksHigh - next);
  return writer.finish();
}

/** Numbers of the macroblocks that touch a rectangle, in the order of coding. */
function blocksWithin({ blocksWide, blocksHigh }: Picture, { left, top, width, height }: Rectangle): readonly number[] {
  const blocks: number[] = [];
  const lastRow = Math.min(blocksHigh - 1, Math.floor((top + height - 1) / blockSize));
  const lastColumn = Math.min(blocksWide - 1, Math.floor((left + width - 1) / blockSize));
  for (let row = Math.floor(top / blockSize); row <= lastRow; row++)
    for (let column = Math.floor(left / blockSize); column <= lastColumn; column++) blocks.push(row * blocksWide + column);
  return blocks;
}

function writePcm(writer: BitWriter, picture: Picture, block: number, type: number): void {
  writer.unsigned(type);
  writer.align();
  for (const line of linesOf(picture, block)) writer.bytes(line);
}

/** The samples of a macroblock, line by line: luma, then both chroma planes. */
function* linesOf(picture: Picture, block: number): Generator<Uint8Array> {
  const column = block % picture.blocksWide;
  const row = (block - column) / picture.blocksWide;
  for (const plane of [picture.luma, picture.blue, picture.red]) {
    const size = plane === picture.luma ? blockSize : blockSize / 2;
    const stride = picture.blocksWide * size;
    for (let y = 0; y < size; y++) {
      const start = (row * size + y) * stride + column * size;
      yield plane.subarray(start, start + size);
    }
  }
}

function isAlike(picture: Picture, shown: Picture | undefined, block: number): boolean {
  if (shown === undefined) return false;
  const others = Array.from(linesOf(shown, block));
  return Array.from(linesOf(picture, block)).every((line, index) => Buffer.compare(line, others[index] ?? line) === 0);
}

function copyOf(picture: Picture): Picture {
  return { ...picture, luma: picture.luma.slice(), blue: picture.blue.slice(), red: picture.red.slice() };
}
