import type { ErrorVoice } from '../../dialects/error-voice.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import type { ClientReply } from './client-reply.ts';

/** The header of every answer with the gateway's own id of the call. */
export const requestIdHeader = 'x-weir-request-id';

/** The header with the path of the receipt, in answers that may cost something. */
export const receiptHeader = 'x-weir-receipt';

export function receiptPath(callId: string): string {
  return `/v1/receipts/${callId}`;
}

/** The header of an answer that is a repetition. */
export const replayedHeader = 'idempotent-replayed';

/** The header with the changes that translation made to a request. */
const warningHeader = 'x-gateway-warning';

/** Proxies cut headers of some kilobytes. Notes beyond this length are only counted. */
const charactersMax = 2000;

/** One note in header characters: `dropped top_k (…)`. */
function formatNote({ kind, field, reason }: TranslationNote): string {
  return `${kind} ${field} (${reason})`.replace(/[^\x20-\x7e]/g, '?').replace(/,/g, ';');
}

/** Adds warnings to those that the headers already contain. */
export function addWarnings(
  headers: Readonly<Record<string, string>>,
  notes: readonly TranslationNote[],
): Readonly<Record<string, string>> {
  const added = translationHeaders(notes)[warningHeader];
  if (added === undefined) return headers;
  const existing = headers[warningHeader];
  return { ...headers, [warningHeader]: existing === undefined ? added : `${existing}, ${added}` };
}

/** The warning header of a translated call. None if nothing was changed. */
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

/**
 * Node sends a text together with the head, and bytes as a second packet. For longer bodies the conversion to text
 * costs more than the packet.
 */
const textBytesMax = 16 * 1024;

/** Writes a whole reply. Does nothing if the client has disconnected. */
export function writeReply(response: ClientReply, status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  const list: string[] = [];
  for (const name in headers) if (name !== 'content-length') list.push(name, headers[name] ?? '');
  list.push('content-length', String(body.length));
  response.writeHead(status, list);
  // One character per byte: the bytes arrive unchanged.
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
