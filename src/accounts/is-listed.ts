/**
 * Whether a list of models or upstreams allows a name. Without a list it does. An entry that ends in `*` is a prefix.
 */
export function isListed(list: readonly string[] | undefined, requested: string): boolean {
  if (list === undefined) return true;
  // Clients of Gemini write `models/` before the name of a model.
  const name = requested.startsWith('models/') ? requested.slice('models/'.length) : requested;
  return list.some((allowed) => (allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed));
}
