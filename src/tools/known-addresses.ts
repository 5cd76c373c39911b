/** Addresses with a scheme, in prose, Markdown and JSON. */
const written = /\bhttps?:\/\/[^\s<>"'`\\{}|^【】]+/giu;

/** Addresses without a scheme: `example.org/tides`. */
const bare = /(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:\/[^\s<>"'`\\{}|^【】]*)?/giu;

/** Characters after an address that belong to the sentence. */
const behind = /[.,;:!?)\]*_~]+$/u;

/** The normal form of an address. Scheme, fragment and a final slash do not matter. */
function keyOf(address: string): string | undefined {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // The page would receive the name and the password, which can contain any text.
  if (url.username !== '' || url.password !== '') return undefined;
  return `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}`;
}

/**
 * The addresses that a model may have read. Injected text can make a model write other addresses that contain parts of
 * the conversation; reading such a page would send those parts to a third party.
 */
export class KnownAddresses {
  readonly #keys = new Set<string>();

  add(address: string): void {
    const key = keyOf(address);
    if (key !== undefined) this.#keys.add(key);
  }

  /** Adds all addresses in a text. */
  addText(text: string): void {
    for (const pattern of [written, bare]) {
      for (const [found] of text.matchAll(pattern)) {
        this.add(found);
        this.add(found.replace(behind, ''));
        // The address of a Markdown link ends at its bracket.
        const bracket = found.indexOf(')');
        if (bracket > 0) this.add(found.slice(0, bracket));
      }
    }
  }

  has(address: string): boolean {
    const key = keyOf(address.trim());
    return key !== undefined && this.#keys.has(key);
  }
}
