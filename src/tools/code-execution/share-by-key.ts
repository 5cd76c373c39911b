/**
 * Returns a function that makes a value once for each key and keeps it while the process lives. If making fails, all
 * who wait for it get the error, and the next call makes it again. Keys must be few.
 */
export function shareByKey<Value>(): (key: string, make: () => Promise<Value>) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (key, make) => {
    const kept = made.get(key);
    if (kept !== undefined) return kept;
    const making = make().catch((error: unknown) => {
      made.delete(key);
      throw error;
    });
    made.set(key, making);
    return making;
  };
}
