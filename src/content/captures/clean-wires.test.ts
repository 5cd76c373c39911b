import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { cleanWires } from './clean-wires.ts';

const body = (text: string | Buffer, bytesTotal?: number) => {
  const bytes = new Uint8Array(Buffer.from(text));
  return { bytes, bytesTotal: bytesTotal ?? bytes.length, mediaType: '' };
};
const wire = (parts: Partial<{ start: string; headers: Record<string, string>; body: ReturnType<typeof body> }>) => ({
  start: 'POST /v1/x',
  headers: {},
  ...parts,
});

test('headers that are not known to be harmless have their name only', () => {
  const headers = { Authorization: 'Bearer abc', 'x-api-key': 'k', cookie: 's=1', 'x-new-secret': 'v', 'content-type': 'application/json' };
  assert.deepEqual(cleanWires({ client_request: wire({ headers }) }, []).client_request?.headers, {
    authorization: '(not kept)',
    'x-api-key': '(not kept)',
    cookie: '(not kept)',
    'x-new-secret': '(not kept)',
    'content-type': 'application/json',
  });
});

test('a given credential is nowhere, whatever its form and place', () => {
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom('a', 'B', '7', '-', '.') });
  const place = fc.constantFrom('start', 'header', 'body');
  fc.assert(
    fc.property(secret, place, fc.string({ maxLength: 20 }), (credential, where, around) => {
      const text = `${around}${credential}${around}`;
      const made = wire({
        ...(where === 'start' && { start: `POST /v1?x=${text}` }),
        ...(where === 'header' && { headers: { 'user-agent': text } }),
        ...(where === 'body' && { body: body(text) }),
      });
      assert.ok(!JSON.stringify(cleanWires({ upstream_request: made }, [credential])).includes(credential));
    }),
  );
});

test('keys in paths, and credentials of any known form in bodies, are removed; other text stays', () => {
  const made = cleanWires(
    {
      client_request: wire({
        start: 'POST /v1beta/models/x:generateContent?key=plain&alt=sse',
        body: body('{"a":"sk-proj-AbCdEfGhIjKlMnOpQr ann@example.org"}'),
      }),
    },
    [],
  ).client_request;
  assert.equal(made?.start, 'POST /v1beta/models/x:generateContent?key=(not kept)&alt=sse');
  assert.equal(made?.body, '{"a":"[credential] ann@example.org"}');
});

test('bytes are in base64, and a text that was cut within a character is a text', () => {
  const { client_reply: bytes, upstream_reply: cut } = cleanWires(
    {
      client_reply: wire({ body: body(Buffer.from([0xff, 0xfe, 0])) }),
      upstream_reply: wire({ body: body(Buffer.from('gr\u00fcn').subarray(0, 3), 9) }),
    },
    [],
  );
  assert.deepEqual([bytes?.encoding, bytes?.body, bytes?.is_cut], ['base64', '//4A', false]);
  assert.deepEqual([cut?.encoding, cut?.body_bytes, cut?.is_cut], ['text', 9, true]);
});
