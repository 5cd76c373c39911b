/**
 * Returns the size of a test: small in `npm test`, full in `npm run test:deep`. A `*.deep.test.ts` of the same name
 * imports `deep.ts` first, then the suite.
 */
export const scaled = (small: number, full: number): number => (isDeep() ? full : small);

/** Whether suites run in their deep form. */
export const isDeep = (): boolean => process.env['WEIR_DEEP'] === '1';

/**
 * With WEIR_LONG=1, before a release, tests also do what found nothing more than their usual form in many runs
 * (docs/decisions/2026-11-27-test-time.md lists each of them).
 */
export const isLong = process.env['WEIR_LONG'] === '1';

/** Returns the usual size of a test, or its size before a release. */
export const usualOrLong = (usual: number, long: number): number => (isLong ? long : usual);
