import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chainEntry, firstHead } from '../audit-entry.ts';
import { changeAt } from '../testing/test-change.ts';
import { datagramBytesMax, otlpLogs, syslogDatagram, syslogFrame, syslogMessage } from './audit-formats.ts';

const origin = { host: 'gate way.example', pid: 7 };
const entry = chainEntry(
  firstHead,
  { ...changeAt(Date.UTC(2026, 10, 26, 1, 2, 3, 4)), note: 'line\nbreak ü', address: '10.0.0.1', requestId: 'req_1' },
  { action: 'keys.update', subject: 'key:k', before: '{"a":1}', after: '{"a":2}' },
);

test('a syslog message has the header of RFC 5424 and the row as JSON in one line', () => {
  const message = syslogMessage(entry, origin);
  const [, header = '', json = ''] = /^(<110>1 \S+ \S+ weir 7 keys\.update -) (.*)$/.exec(message) ?? [];
  assert.equal(header, '<110>1 2026-11-26T01:02:03.004Z gate?way.example weir 7 keys.update -');
  const row = JSON.parse(json);
  assert.deepEqual([row.sequence, row.before, row.after, row.note, row.hash], [1, { a: 1 }, { a: 2 }, 'line\nbreak ü', entry.hash]);
});

test('a frame begins with its length in bytes', () => {
  const frame = syslogFrame(entry, origin);
  const space = frame.indexOf(' ');
  assert.equal(Number(frame.subarray(0, space).toString()), frame.length - space - 1);
});

test('a row that does not fit into a datagram is sent without its contents, and says so', () => {
  assert.equal(syslogDatagram(entry, origin).toString(), syslogMessage(entry, origin));
  const short = syslogDatagram({ ...entry, before: JSON.stringify('x'.repeat(datagramBytesMax)) }, origin);
  assert.ok(short.length < 1000);
  assert.match(short.toString(), /does not fit/);
});

test('log records of OTLP have time, sequence, attributes and the row', () => {
  const { resourceLogs } = JSON.parse(otlpLogs([entry], { 'service.name': 'weir' }));
  const [record] = resourceLogs[0].scopeLogs[0].logRecords;
  assert.equal(record.timeUnixNano, `${Date.UTC(2026, 10, 26, 1, 2, 3, 4)}000000`);
  const attributes = Object.fromEntries(
    record.attributes.map(({ key, value }: { key: string; value: object }) => [key, Object.values(value)[0]]),
  );
  assert.deepEqual(
    [attributes['weir.audit.sequence'], attributes['weir.audit.action'], attributes['client.address'], attributes['weir.audit.hash']],
    ['1', 'keys.update', '10.0.0.1', entry.hash],
  );
  assert.equal(JSON.parse(record.body.stringValue).subject, 'key:k');
});
