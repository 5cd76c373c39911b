/** What a request says of the sites that may be used. An entry is a host, `example.com`, or a part of it, `example.com/docs`; one `*` may stand in the path. */
export type DomainRules = { readonly allowedDomains?: readonly string[]; readonly blockedDomains?: readonly string[] };

type Entry = { readonly host: string; readonly before: string; readonly after: string | undefined };

/**
 * Whether an address may be used: one of a host that is allowed, or of a subdomain of it, and of none that is blocked. Where nothing is allowed by name, all is
 * that is not blocked. An entry that names no host allows nothing and blocks nothing.
 */
export function createDomainFilter(rules: DomainRules): (url: URL) => boolean {
  const allowed = (rules.allowedDomains ?? []).map(readEntry);
  const blocked = (rules.blockedDomains ?? []).map(readEntry);
  return (url) => {
    const matches = (entry: Entry | undefined): boolean => entry !== undefined && entryMatches(entry, url);
    // A list whose entries all name no host still is a list: it allows nothing, instead of everything.
    return (allowed.length === 0 || allowed.some(matches)) && !blocked.some(matches);
  };
}

/** The hosts on which something is allowed, in the spelling of addresses: for services that know hosts and no parts of them. */
export function allowedHostsOf({ allowedDomains }: DomainRules): readonly string[] {
  return [...new Set((allowedDomains ?? []).flatMap((domain) => readEntry(domain)?.host ?? []))];
}

/** The hosts that are blocked as a whole. */
export function blockedHostsOf({ blockedDomains }: DomainRules): readonly string[] {
  const entries = (blockedDomains ?? []).flatMap((domain) => readEntry(domain) ?? []);
  return [...new Set(entries.filter(({ before, after }) => before === '' && after === undefined).map(({ host }) => host))];
}

function readEntry(domain: string): Entry | undefined {
  const bare = domain
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^\*\./, '');
  // Parsed like an address, so that case, punycode and the many spellings of numbers come out alike on both sides.
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
  // `/docs` is not a part of `/docstrings`.
  const next = path[before.length];
  return next === undefined || next === '/';
}

function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, '');
}
