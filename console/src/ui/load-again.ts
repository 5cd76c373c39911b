const againMs = 3000;
const triesMax = 100;

/** Whether the program answers at all, with whatever answer. */
async function isReachable(): Promise<boolean> {
  try {
    await fetch('/health/live', { signal: AbortSignal.timeout(againMs) });
    return true;
  } catch {
    return false;
  }
}

/**
 * A part of the console that is loaded on demand. While the program is away, the part is asked for again until it comes;
 * otherwise the tab would end in an error page of the browser.
 * @param load imports the part
 * @returns the same, for five minutes; throws as `load` does if the program answers, as it does after an update
 */
export function loadAgain<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await load();
      } catch (error) {
        if (tries >= triesMax || (await isReachable())) throw error;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
}
