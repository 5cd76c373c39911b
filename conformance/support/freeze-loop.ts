/** Loaded into a program before it starts: SIGUSR2 makes its event loop stand still, in microtasks, for ever. */
async function standStill(): Promise<never> {
  for (;;) await Promise.resolve();
}

process.on('SIGUSR2', () => void standStill());
