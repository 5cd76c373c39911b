import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { cert, key } from '../../src/platform/http/testing/fake-certificate.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { configOf, examine, secret, sendJson, show, told } from './doctor-kit.ts';

let received = '';
const server = createServer({ key, cert }, (request, response) => {
  received += String(request.headers['authorization']);
  sendJson(response, 200, { object: 'list', data: [{ id: 'tiny' }] });
});
let port = 0;
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

/** Runs with the certificate among the trusted ones. */
async function trusting(step: () => Promise<void>): Promise<void> {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, cert]);
  try {
    await step();
  } finally {
    setDefaultCACertificates(usual);
  }
}

describe('certificates', () => {
  test('a self-signed certificate is reported, with the way to trust it, and nothing is sent', async () => {
    const report = await examine(configOf(`https://localhost:${port}/v1`), { mayCall: false });
    const { verdict, words } = told(report, 'TLS');
    assert.equal(verdict, 'bad', show(report));
    assert.match(words, /localhost is self-signed.*NODE_EXTRA_CA_CERTS/);
    assert.equal(received, '');
  });

  test('a certificate for another name is reported', () =>
    trusting(async () => {
      const { verdict, words } = told(await examine(configOf(`https://127.0.0.1:${port}/v1`), { mayCall: false }), 'TLS');
      assert.equal(verdict, 'bad');
      assert.match(words, /for another name than 127\.0\.0\.1.*baseUrl/);
      assert.equal(received, '');
    }));

  test('a trusted certificate has its remaining days, and a warning if they are few', () =>
    trusting(async () => {
      const config = configOf(`https://localhost:${port}/v1`);
      const { verdict, words } = told(await examine(config, { mayCall: false, checks: ['reply'] }), 'TLS');
      assert.equal(verdict, 'good');
      assert.match(words, /TLSv1\.\d, the certificate is good for \d{5} more days/);
      assert.match(received, new RegExp(`Bearer ${secret}`));
      const late = { ...systemClock, nowMs: () => Date.parse('2126-10-20T00:00:00Z') };
      const soon = told(await examine(config, { clock: late, mayCall: false, checks: ['reply'] }), 'TLS');
      assert.equal(soon.verdict, 'warning');
      assert.match(soon.words, /good for 8 more days.*renewed/);
    }));

  test('a plain server at an https address is reported', async () => {
    const plain = createTcpServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    try {
      const url = `https://localhost:${(plain.address() as AddressInfo).port}/v1`;
      const { verdict, words } = told(await examine(configOf(url)), 'TLS');
      assert.equal(verdict, 'bad');
      assert.match(words, /handshake.*failed.*http:\/\//);
    } finally {
      plain.close();
    }
  });
});
