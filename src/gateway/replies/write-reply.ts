import type { ErrorVoice } from '../../dialects/error-voice.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import type { ClientReply } from './client-reply.ts';

/** The header in which every answer of the gateway carries its own id of the call. */
export const requestIdHeader = 'x-weir-request-id';

/** The header that says where the receipt of a reply is: in the answers that may cost something. */
export const receiptHeader = 'x-weir-receipt';

/** The path of the receipt of a call. */
export function receiptPath(callId: string): string {
  return `/v1/receipts/${callId}`;
}

/** Says that an answer was given before. */
export const replayedHeader = 'idempotent-replayed';

/** The header that tells a client what translation did to its request besides carrying it over. */
const warningHeader = 'x-gateway-warning';

/** Headers of some kilobytes are cut by proxies; what does not fit is counted. */
const charactersMax = 2000;

/** One note in header letters: `dropped top_k (…)`. */
function formatNote({ kind, field, reason }: TranslationNote): string {
  return `${kind} ${field} (${reason})`.replace(/[^\x20-\x7e]/g, '?').replace(/,/g, ';');
}

/** Headers with more warnings than they bring. */
export function addWarnings(
  headers: Readonly<Record<string, string>>,
  notes: readonly TranslationNote[],
): Readonly<Record<string, string>> {
  const told = translationHeaders(notes)[warningHeader];
  if (told === undefined) return headers;
  const known = headers[warningHeader];
  return { ...headers, [warningHeader]: known === undefined ? told : `${known}, ${told}` };
}

/** The warning header of a translated call; none when everything was carried as it was. */
export function translationHeaders(notes: readonly TranslationNote[]): Readonly<Record<string, string>> {
  if (notes.length === 0) return {};
  let text = '';
  let written = 0;
  for (const note of notes) {
    const next = (written === 0 ? '' : ', ') + formatNote(note);
    if (text.length + next.length > charactersMax) break;
    text += next;
    written += 1;
  }
  const left = notes.length - written;
  return { [warningHeader]: left === 0 ? text : `${text}${written === 0 ? '' : ', '}and ${left} more` };
}

/** Node sends a text together with the head in one piece, and bytes as a second one. Beyond this, making a text costs more than it spares. */
const textBytesMax = 16 * 1024;

/** Writes a whole reply. Does nothing when the client has gone. */
export function writeReply(response: ClientReply, status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  const list: string[] = [];
  for (const name in headers) if (name !== 'content-length') list.push(name, headers[name] ?? '');
  list.push('content-length', String(body.length));
  response.writeHead(status, list);
  // One character per byte: the bytes arrive as they are.
  if (body.length <= textBytesMax) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}

/** Writes an error as the client's interface words it. */
export function writeError(
  response: ClientReply,
  voice: ErrorVoice,
  error: GatewayError,
  requestId: string,
  framing?: StreamFraming,
): void {
  const reply = voice.encodeError(error, requestId, framing);
  writeReply(response, reply.status, { ...reply.headers, ...error.headers, [requestIdHeader]: requestId }, reply.body);
}
