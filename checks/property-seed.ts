import fc from 'fast-check';

/**
 * Loaded before the tests of `npm test`: properties draw the same cases each time, so that only the change decides
 * whether a commit passes. `WEIR_PROPERTY_SEED=random` draws other cases, to find new counterexamples; a number repeats
 * a run. A process that fails names its seed, also if it failed before the property could: by a time limit, or by an
 * error that nobody caught.
 */
const asked = process.env.WEIR_PROPERTY_SEED ?? '20261122';
const seed = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
fc.configureGlobal({ seed });
process.on('exit', (code) => {
  if (code !== 0) process.stderr.write(`properties were drawn with WEIR_PROPERTY_SEED=${seed}\n`);
});
