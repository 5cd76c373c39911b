/** The number is the order; `v1` is the record format. */
const namePattern = /^segment-([0-9]{10})\.v1$/;
const foreignPattern = /^segment-[0-9]{10}\.v[0-9]+$/;

export function segmentName(number: number): string {
  return `segment-${String(number).padStart(10, '0')}.v1`;
}

/**
 * The segment numbers among the names of a directory, in order. Throws for a segment in a format that this release
 * cannot read.
 */
export function readSegmentNumbers(names: readonly string[]): readonly number[] {
  const numbers = names.flatMap((name) => {
    const match = namePattern.exec(name);
    if (match === null && foreignPattern.test(name))
      throw new Error(`${name} was written by another release in a format unknown to this one`);
    return match === null ? [] : [Number(match[1])];
  });
  return numbers.sort((one, other) => one - other);
}
