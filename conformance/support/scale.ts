/**
 * Returns the size of a test: small in `npm test`, full in `npm run test:deep`. A `*.deep.test.ts` of the same name
 * imports `deep.ts` first, then the suite.
 */
export const scaled = (small: number, full: number): number => (process.env['WEIR_DEEP'] === '1' ? full : small);
