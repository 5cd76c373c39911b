import fc from 'fast-check';

/**
 * Loaded before the tests of `npm test`: properties there draw the same cases each time, so that a commit is judged by what it changes. `WEIR_PROPERTY_SEED=random`
 * draws others, which is how new counterexamples are looked for; a number repeats a run.
 */
const seed = process.env.WEIR_PROPERTY_SEED ?? '20261122';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
