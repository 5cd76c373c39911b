/**
 * Adds the site operators of search engines to a query. Operators that would exceed the service's maximum length are
 * left out, because the results are filtered afterwards anyway.
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
  const operators = sites.length === 1 ? ` ${sites[0]}` : sites.length > 1 ? ` (${sites.join(' OR ')})` : '';
  if (query.length + operators.length <= charactersMax) query += operators;
  for (const host of blockedHosts) {
    const unwanted = ` -site:${host}`;
    if (query.length + unwanted.length > charactersMax) break;
    query += unwanted;
  }
  return query;
}
