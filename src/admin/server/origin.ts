import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

import { AdminProblem } from '../problem.ts';

/** Under which names the console is reached. */
export type ConsoleAddress = {
  /** The address that the listener is bound to, and its port. */
  readonly host: string;
  readonly port: () => number;
  /** The address at which a proxy with TLS serves the console: `https://weir.example`. */
  readonly publicUrl?: URL;
};

/** The origin of a request, as its Host header says it. */
export type RequestOrigin = {
  /** `https://weir.example`, `http://127.0.0.1:8082` */
  readonly origin: string;
  readonly isHttps: boolean;
  /** The name is one of this machine's own, which no other site can have. */
  readonly isLoopback: boolean;
};

const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The origin that a request was sent to (requirement S4). Names of the loopback interface may have any port, because a
 * container's port may be mapped; every other name must be one of ours, which closes DNS rebinding.
 * @throws AdminProblem `wrong_host`
 */
export function readOrigin(headers: IncomingHttpHeaders, address: ConsoleAddress): RequestOrigin {
  const host = headers.host?.toLowerCase() ?? '';
  const { publicUrl } = address;
  if (publicUrl !== undefined && host === publicUrl.host)
    return { origin: publicUrl.origin, isHttps: publicUrl.protocol === 'https:', isLoopback: loopbackNames.has(publicUrl.hostname) };
  const name = host.replace(/:\d{1,5}$/, '');
  if (loopbackNames.has(name)) return { origin: `http://${host}`, isHttps: false, isLoopback: true };
  if (host === boundHost(address)) return { origin: `http://${host}`, isHttps: false, isLoopback: false };
  throw new AdminProblem(
    'wrong_host',
    'This server does not answer to the Host of the request; set console.publicUrl to the address under which it is reached.',
  );
}

function boundHost({ host, port }: ConsoleAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port()}`;
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a request that another site may have caused (requirement S3): `Sec-Fetch-Site` must be `same-origin`, or
 * without it `Origin` must be our own. A request with neither does not come from a browser.
 * @param hasCookie whether the browser added a session by itself; then one of both is needed
 * @throws AdminProblem `cross_origin`
 */
export function refuseCrossOrigin(method: string, headers: IncomingHttpHeaders, own: RequestOrigin, hasCookie: boolean): void {
  if (safeMethods.has(method)) return;
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  if (site === undefined && origin === undefined && !hasCookie) return;
  if (site === undefined ? origin === own.origin : site === 'same-origin') return;
  throw new AdminProblem('cross_origin', 'The request was made by a page of another site; open the console itself.');
}

/**
 * Refuses a body that a form could send: JSON cannot be one, and every other type needs a header that only a script of
 * our own pages can add.
 * @throws AdminProblem `cross_origin`
 */
export function refuseForms(method: string, headers: IncomingHttpHeaders): void {
  if (safeMethods.has(method) || headers['x-weir-console'] === '1') return;
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === undefined || type === 'application/json') return;
  throw new AdminProblem('cross_origin', 'A body that is not application/json needs the header x-weir-console: 1.');
}
