/**
 * The sites that a request allows and blocks. An entry is a host, `example.com`, or a part of it, `example.com/docs`.
 * The path may contain one `*`.
 */
export type DomainRules = { readonly allowedDomains?: readonly string[]; readonly blockedDomains?: readonly string[] };

type Entry = { readonly host: string; readonly before: string; readonly after: string | undefined };

/**
 * Creates a check for addresses. An address passes if its host, or a parent domain, is allowed and none is blocked.
 * Without a list of allowed sites, everything that is not blocked is allowed. An entry without a host allows nothing
 * and blocks nothing.
 */
export function createDomainFilter(rules: DomainRules): (url: URL) => boolean {
  const allowed = (rules.allowedDomains ?? []).map(readEntry);
  const blocked = (rules.blockedDomains ?? []).map(readEntry);
  return (url) => {
    const matches = (entry: Entry | undefined): boolean => entry !== undefined && entryMatches(entry, url);
    // A list whose entries all lack a host is still a list, and allows nothing.
    return (allowed.length === 0 || allowed.some(matches)) && !blocked.some(matches);
  };
}

/** The hosts with allowed pages, as addresses spell them, for services that filter by host only. */
export function allowedHostsOf({ allowedDomains }: DomainRules): readonly string[] {
  return [...new Set((allowedDomains ?? []).flatMap((domain) => readEntry(domain)?.host ?? []))];
}

/** The hosts that are completely blocked. */
export function blockedHostsOf({ blockedDomains }: DomainRules): readonly string[] {
  const entries = (blockedDomains ?? []).flatMap((domain) => readEntry(domain) ?? []);
  return [...new Set(entries.filter(({ before, after }) => before === '' && after === undefined).map(({ host }) => host))];
}

function readEntry(domain: string): Entry | undefined {
  const bare = domain
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^\*\./, '');
  // Parsed like an address, so that case, punycode and spellings of numbers are normalised on both sides.
  const url = URL.parse(`http://${bare}`);
  if (bare === '' || url === null) return undefined;
  const [before = '', after] = url.pathname.split('*', 2);
  return { host: hostOf(url), before: before.replace(/\/$/, ''), after };
}

function entryMatches({ host, before, after }: Entry, url: URL): boolean {
  const own = hostOf(url);
  if (own !== host && !own.endsWith(`.${host}`)) return false;
  const path = url.pathname;
  if (!path.startsWith(before)) return false;
  if (after !== undefined) return path.slice(before.length).includes(after);
  // `/docs` does not contain `/docstrings`.
  const next = path[before.length];
  return next === undefined || next === '/';
}

function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, '');
}
