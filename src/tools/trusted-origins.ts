/**
 * Creates a check for the origins that the operator trusts: `https://wiki.example.com`, `http://10.0.0.5:8080`, or all
 * subdomains of a host, `http://*.intranet.example:8080`. Scheme, host and port must match.
 */
export function createOriginFilter(origins: readonly string[]): (url: URL) => boolean {
  const entries = origins.flatMap((origin) => {
    const url = URL.parse(origin.replace('://*.', '://'));
    return url === null ? [] : [{ protocol: url.protocol, host: url.host, withSubdomains: origin.includes('://*.') }];
  });
  return ({ protocol, host }) =>
    entries.some((entry) => entry.protocol === protocol && (entry.withSubdomains ? host.endsWith(`.${entry.host}`) : entry.host === host));
}
