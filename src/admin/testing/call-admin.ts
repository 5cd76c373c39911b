import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';

/** An answer with its parsed JSON body. */
export type AdminAnswer = { readonly status: number; readonly headers: LightMyRequestResponse['headers']; readonly json: unknown };

/** Sends a request to an admin server that does not listen, as a client on this machine with an admin token would. */
export async function callAdmin(app: FastifyInstance, method: string, url: string, options: InjectOptions = {}): Promise<AdminAnswer> {
  const { headers, ...others } = options;
  // A header that is undefined replaces the usual one by none.
  const merged = { host: '127.0.0.1:8082', authorization: 'Bearer at-weir-test', ...headers };
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)),
    ...others,
  });
  const text = response.body;
  return { status: response.statusCode, headers: response.headers, json: text.startsWith('{') ? JSON.parse(text) : text };
}
