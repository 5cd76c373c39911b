/** The state that an address holds: texts, and lists of texts for parameters that repeat. */
export type Search = Readonly<Record<string, string | readonly string[]>>;

/** `?user=a&user=b&r=7d` as `{ user: ['a', 'b'], r: '7d' }`. */
export function parseSearch(text: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name];
    found[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return found;
}

export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '') continue;
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) words.append(name, String(one));
  }
  const text = words.toString();
  return text === '' ? '' : `?${text}`;
}

/** A parameter that has one value; of several the first. */
export function one(search: Search, name: string): string | undefined {
  const value = search[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** A parameter that may repeat. */
export function many(search: Search, name: string): readonly string[] {
  const value = search[name];
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}
