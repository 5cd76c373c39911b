/** Compiles exact names, and prefixes that end in `*`, into a test of lower-case header names. */
export function compileHeaderList(entries: readonly string[]): (name: string) => boolean {
  const names = new Set(entries.filter((entry) => !entry.endsWith('*')));
  const prefixes = entries.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  // Real traffic repeats the same few names, so each answer is cached. The bound keeps hostile names from filling
  // memory.
  const decided = new Map<string, boolean>();
  return (name) => {
    const known = decided.get(name);
    if (known !== undefined) return known;
    const passes = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
    if (decided.size < 1024) decided.set(name, passes);
    return passes;
  };
}
