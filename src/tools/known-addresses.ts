/** Addresses with a scheme, as they stand in prose, Markdown and JSON. */
const written = /\bhttps?:\/\/[^\s<>"'`\\{}|^【】]+/giu;

/** Addresses that people write without one: `example.org/tides`. */
const bare = /(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:\/[^\s<>"'`\\{}|^【】]*)?/giu;

/** What stands behind an address and belongs to the sentence. */
const behind = /[.,;:!?)\]*_~]+$/u;

/** What makes two spellings of an address one: the scheme, what follows `#`, and a slash at the end do not. */
function keyOf(address: string): string | undefined {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // A name and a password would be sent along, and say whatever one likes.
  if (url.username !== '' || url.password !== '') return undefined;
  return `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}`;
}

/**
 * Addresses that a model may have read. Text that was injected into what it reads can make it write others, with what it knows of the conversation in
 * them: reading such a page would hand that over.
 */
export class KnownAddresses {
  readonly #keys = new Set<string>();

  add(address: string): void {
    const key = keyOf(address);
    if (key !== undefined) this.#keys.add(key);
  }

  /** Takes all addresses that stand in a text. */
  addText(text: string): void {
    for (const pattern of [written, bare]) {
      for (const [found] of text.matchAll(pattern)) {
        this.add(found);
        this.add(found.replace(behind, ''));
        // The link of a Markdown text ends at its bracket, whatever follows.
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
