import { compareScanners, TextMaker } from '../../src/platform/json/scanner/testing/compare-scanners.ts';

export type ScannerReport = { readonly parser: 'json-scanner'; readonly cases: number; readonly accepted: number };

/**
 * Compares the scanner in WebAssembly with `scanJson` on texts that are valid, damaged or cut, in windows of any size.
 * @throws AssertionError at the first difference
 */
export function fuzzScanner(cases: number, seed: number): ScannerReport {
  const maker = new TextMaker(seed);
  let accepted = 0;
  for (let number = 0; number < cases; number++) {
    const { bytes, limits, windowBytes } = maker.next();
    if (compareScanners(bytes, limits, windowBytes)) accepted++;
  }
  return { parser: 'json-scanner', cases, accepted };
}
