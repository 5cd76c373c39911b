/** Tells whether a lower-case header name is on a list of exact names and of prefixes that end in `*`. */
export function compileHeaderList(entries: readonly string[]): (name: string) => boolean {
  const names = new Set(entries.filter((entry) => !entry.endsWith('*')));
  const prefixes = entries.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  // Real traffic repeats the same few names, so each name is decided once. The bound keeps hostile names from filling memory.
  const decided = new Map<string, boolean>();
  return (name) => {
    const known = decided.get(name);
    if (known !== undefined) return known;
    const passes = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
    if (decided.size < 1024) decided.set(name, passes);
    return passes;
  };
}
