/**
 * A query with the operators by which search engines are told sites. Whatever would make it longer than the service takes is left out: the results are filtered
 * afterwards anyway.
 */
export function addSiteOperators(
  {
    text,
    allowedHosts,
    blockedHosts,
  }: { readonly text: string; readonly allowedHosts: readonly string[]; readonly blockedHosts: readonly string[] },
  charactersMax: number,
): string {
  let query = text.slice(0, charactersMax);
  const sites = allowedHosts.map((host) => `site:${host}`);
  const wanted = sites.length === 1 ? ` ${sites[0]}` : sites.length > 1 ? ` (${sites.join(' OR ')})` : '';
  if (query.length + wanted.length <= charactersMax) query += wanted;
  for (const host of blockedHosts) {
    const unwanted = ` -site:${host}`;
    if (query.length + unwanted.length > charactersMax) break;
    query += unwanted;
  }
  return query;
}
