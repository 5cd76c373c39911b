import { StartError } from '../environment.ts';

/** Explains why an address cannot be used, and names the variable to change. */
export function listenError(error: unknown, variable: string, host: string, port: number): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new StartError(`port ${port} on ${host} is taken; set ${variable} to another, or to 0 for any free one`, { cause: error });
  if (code === 'EACCES')
    return new StartError(`port ${port} needs rights this user has not; set ${variable} to one above 1023`, { cause: error });
  if (code === 'EADDRNOTAVAIL') return new StartError(`this machine has no address ${host}; set WEIR_HOST`, { cause: error });
  return error;
}

/** The address of a listening server as a URL. */
export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
