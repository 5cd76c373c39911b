/** A proxy, and the credential for it. */
export type ProxyAddress = {
  /** Scheme, host and port, without the credential: safe to show. */
  readonly origin: string;
  /** The value of `proxy-authorization`. It is never shown or logged. */
  readonly authorization?: string;
};

/**
 * Reads `http://user:password@host:port`. The default scheme is http. Undefined if the text is not an address of a
 * proxy.
 */
export function parseProxyAddress(text: string): ProxyAddress | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') return undefined;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined;
  const { username, password, origin } = url;
  if (username === '' && password === '') return { origin };
  try {
    const credential = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { origin, authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
  } catch {
    // A percent sign that begins no escape.
    return undefined;
  }
}
