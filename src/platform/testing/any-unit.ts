import fc from 'fast-check';

/**
 * Any Unicode character, as a unit of `fc.string`. The library's own unit `binary` sets up a table of a million
 * characters: two seconds of processor time and 130 MB in each process.
 */
export const anyUnit = fc.oneof(
  { weight: 8, arbitrary: fc.nat(0x7f).map((point) => String.fromCodePoint(point)) },
  { weight: 4, arbitrary: fc.nat(0xd7ff).map((point) => String.fromCodePoint(point)) },
  { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0xffff }).map((point) => String.fromCodePoint(point)) },
  { weight: 4, arbitrary: fc.integer({ min: 0x10000, max: 0x10ffff }).map((point) => String.fromCodePoint(point)) },
);
