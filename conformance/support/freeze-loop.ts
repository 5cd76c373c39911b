/** Loaded into a program before it starts: SIGUSR2 blocks its event loop permanently, in microtasks. */
async function standStill(): Promise<never> {
  for (;;) await Promise.resolve();
}

process.on('SIGUSR2', () => void standStill());
