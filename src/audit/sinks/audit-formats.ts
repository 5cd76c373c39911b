import type { AuditEntry } from '../audit-entry.ts';
import { describeEntry } from '../describe-entry.ts';

/** Facility 13 (log audit) and severity 6 (informational): https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1 */
const priority = 13 * 8 + 6;
/** Limits of the header's fields: https://www.rfc-editor.org/rfc/rfc5424#section-6 */
const hostCharactersMax = 255;
const messageIdCharactersMax = 32;
/** A larger datagram cannot be sent. */
export const datagramBytesMax = 60_000;

/** A syslog message as RFC 5424 defines it, whose text is the row as JSON. */
export function syslogMessage(entry: AuditEntry, { host, pid }: { readonly host: string; readonly pid: number }): string {
  const header = `<${priority}>1 ${new Date(entry.atMs).toISOString()} ${printable(host, hostCharactersMax)} weir ${pid}`;
  return `${header} ${printable(entry.action, messageIdCharactersMax)} - ${JSON.stringify(describeEntry(entry))}`;
}

/** The message for one datagram: a row that does not fit is sent without before and after, and says so. */
export function syslogDatagram(entry: AuditEntry, origin: { readonly host: string; readonly pid: number }): Buffer {
  const whole = Buffer.from(syslogMessage(entry, origin));
  if (whole.length <= datagramBytesMax) return whole;
  const { before: _before, after: _after, note: _note, ...short } = entry;
  return Buffer.from(syslogMessage({ ...short, after: '{"left_out":"the row does not fit into a datagram"}' }, origin));
}

/** A message for a stream, with its length before it: https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1 */
export function syslogFrame(entry: AuditEntry, origin: { readonly host: string; readonly pid: number }): Buffer {
  const message = Buffer.from(syslogMessage(entry, origin));
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/** A field of the header: printable ASCII without spaces, and never empty. */
function printable(text: string, charactersMax: number): string {
  const clean = text.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, charactersMax);
  return clean === '' ? '-' : clean;
}

/** The body of an export request of OTLP over HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export function otlpLogs(entries: readonly AuditEntry[], resource: Readonly<Record<string, string>>): string {
  const scopeLogs = [{ scope: { name: 'weir.audit' }, logRecords: entries.map(logRecord) }];
  return JSON.stringify({ resourceLogs: [{ resource: { attributes: attributesOf(resource) }, scopeLogs }] });
}

function logRecord(entry: AuditEntry): object {
  const { sequence, atMs, actor, via, action, subject, note, address, requestId, hash } = entry;
  const texts = {
    'weir.audit.action': action,
    'weir.audit.actor': actor,
    'weir.audit.via': via,
    'weir.audit.subject': subject,
    'weir.audit.hash': hash,
    ...(note === undefined ? {} : { 'weir.audit.note': note }),
    ...(address === undefined ? {} : { 'client.address': address }),
    ...(requestId === undefined ? {} : { 'weir.request.id': requestId }),
  };
  return {
    timeUnixNano: `${BigInt(Math.round(atMs)) * 1_000_000n}`,
    severityNumber: 9,
    severityText: 'INFO',
    eventName: `weir.audit.${action}`,
    body: { stringValue: JSON.stringify(describeEntry(entry)) },
    attributes: [{ key: 'weir.audit.sequence', value: { intValue: String(sequence) } }, ...attributesOf(texts)],
  };
}

function attributesOf(texts: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
