import type { Money } from '../format/money.ts';
import { keyFor, type Payer } from './payer.ts';
import { fillIn } from './pictures.ts';
import { relay } from './relay.ts';
import type { Sent } from './runs.ts';

export type Quote = { readonly expected: Money; readonly maximum: Money; readonly allowed: boolean };

/** Above this a request is not sent twice only to learn its price. */
const charactersMax = 2_000_000;

/**
 * What a request would cost.
 * @throws Error if the gateway gives no quote: the call itself will say why
 */
export async function quoteOf(payer: Payer, { path, body }: Pick<Sent, 'path' | 'body'>, signal: AbortSignal): Promise<Quote> {
  const filled = fillIn(body);
  if (filled.length > charactersMax) throw new Error('The request is too large for a quote.');
  const { keyId } = await keyFor(payer);
  // The first member of a message on a WebSocket is no part of the request.
  const { type: _message, ...request } = JSON.parse(filled) as Readonly<Record<string, unknown>>;
  const text = JSON.stringify({ path, body: request });
  const response = await relay({ keyId, path: '/v1/quote', body: text, signal });
  if (!response.ok) throw new Error(`There is no quote: ${response.status}.`);
  return (await response.json()) as Quote;
}
