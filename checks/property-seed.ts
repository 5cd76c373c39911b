import fc from 'fast-check';

/**
 * Loaded before the tests of `npm test`: properties draw the same cases each time, so that only the change decides
 * whether a commit passes. `WEIR_PROPERTY_SEED=random` draws other cases, to find new counterexamples; a number repeats
 * a run.
 */
const seed = process.env.WEIR_PROPERTY_SEED ?? '20261122';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
