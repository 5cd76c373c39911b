import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';

test('changes by commands reach a collector, which refuses them at first, and a syslog server, all in order', async (context) => {
  let requests = 0;
  const records: {
    readonly eventName: string;
    readonly attributes: readonly { readonly key: string; readonly value: { readonly intValue?: string } }[];
  }[] = [];
  const collector = createHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      requests += 1;
      if (requests > 1) records.push(...JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords);
      response.writeHead(requests > 1 ? 200 : 503).end('{}');
    });
  });
  let syslog = '';
  const server = createServer((socket) => void socket.setEncoding('utf8').on('data', (piece: string) => (syslog += piece)));
  for (const each of [collector, server]) {
    await new Promise<void>((resolve) => void each.listen(0, '127.0.0.1', resolve));
    context.after(() => void each.close());
  }
  const portOf = (each: { address: () => unknown }): number => (each.address() as AddressInfo).port;
  const sinks = {
    collector: { type: 'otlp', url: `http://127.0.0.1:${portOf(collector)}/v1/logs`, headers: { authorization: 'Bearer very-secret' } },
    siem: { type: 'syslog', host: '127.0.0.1', port: portOf(server) },
  };
  await using weir = await serveWeir({ config: JSON.stringify({ overload: neverOverloaded, audit: { sinks } }), monitor: false });
  const created = await runCommand(['keys', 'create', '--user', 'sunk', '--name', 'k'], { WEIR_DATA_DIR: weir.dataDirectory });
  assert.equal(created.code, 0, created.stderr);
  const subjects = await eventually(
    () => [...syslog.matchAll(/"subject":"(user:sunk)"/g)].length,
    (count) => count > 0,
  );
  assert.ok(subjects > 0);
  await eventually(
    () => records.map(({ eventName }) => eventName),
    (names) => names.includes('weir.audit.keys.create'),
  );
  const sequences = records.map(({ attributes }) => Number(attributes.find(({ key }) => key === 'weir.audit.sequence')?.value.intValue));
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => index + 1),
  );
  assert.doesNotMatch(weir.output(), /very-secret/);
});
