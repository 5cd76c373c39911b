/** The path and the query of a relayed request. */
export type RelayTarget = { readonly path: string; readonly query: string };

const pathPattern = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+$/;
const charactersMax = 2048;
/** Parameters that carry a credential. */
const credentials: ReadonlySet<string> = new Set(['key', 'access_token', 'api_key']);

/**
 * Reads the address of a relayed request as it was written. Undefined if its path is not a plain one: a segment that
 * leads upwards or is empty, also when it is escaped, or characters that a path cannot have. Credentials are left out
 * of the query.
 */
export function readTarget(target: string): RelayTarget | undefined {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (path.length > charactersMax || !pathPattern.test(path) || !path.slice(1).split('/').every(isPlain)) return undefined;
  const query = (mark === -1 ? '' : target.slice(mark + 1)).split('&').filter((part) => part !== '' && !isCredential(part));
  return { path, query: query.length === 0 ? '' : `?${query.join('&')}` };
}

function isPlain(segment: string): boolean {
  try {
    const decoded = decodeURIComponent(segment);
    // oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
    return !/[\u0000-\u001f\u007f]/.test(decoded) && decoded.split(/[/\\]/).every((part) => part !== '' && part !== '.' && part !== '..');
  } catch {
    // The escaped bytes are not text.
    return false;
  }
}

function isCredential(part: string): boolean {
  return new URLSearchParams(part).keys().some((name) => credentials.has(name.toLowerCase()));
}
