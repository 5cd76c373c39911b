import { StartError } from '../../environment.ts';

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The address of a console, in one spelling: `https://console.example`, with the path if it has one.
 * @throws StartError unless it is https, or http on this machine
 */
export function readAddress(text: string): URL {
  const url = URL.parse(text);
  const isSafe = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.has(url.hostname)));
  if (!isSafe) throw new StartError(`"${text.slice(0, 200)}" must be an https address, or an http address of this machine`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new StartError(`the address of a console has no user, query or fragment; got ${url.origin} with one`);
  return url;
}

/** What distinguishes the address from others: origin and path, without a slash at the end. */
export function nameAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
