import { forwardReplyHeaders } from './pass-headers.ts';
import { readUpstreamRequestId } from './pass-headers.ts';
import { passReplyHeaders } from './pass-headers.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { upstreamVendors } from '../../../upstreams/registry.ts';
import { compileHeaderList } from '../../../platform/http/header-list.ts';
import { createFakeUpstream } from './testing/fake-exchange.ts';

const client = { send: () => {}, close: () => Promise.resolve() };

test('headers of one connection, of one origin or of the operator do not pass', () => {
  for (const vendor of Object.values(upstreamVendors)) {
    const upstream = createFakeUpstream({ vendor: vendor.id }, client);
    const passed = passReplyHeaders(
      upstream,
      {
        'content-type': 'application/json',
        'retry-after': '3',
        'x-ratelimit-remaining-tokens': '5',
        'anthropic-ratelimit-requests-remaining': '3999',
        'anthropic-priority-input-tokens-remaining': '3',
        'anthropic-organization-id': 'ba01',
        'openai-organization': 'acme',
        'openai-project': 'proj_1',
        'x-request-id': 'theirs',
        'set-cookie': ['session=1'],
        'content-length': '9',
        'content-encoding': 'identity',
        'transfer-encoding': 'chunked',
        connection: 'keep-alive',
        'keep-alive': 'timeout=5',
        trailer: 'x',
        upgrade: 'h2c',
        'www-authenticate': 'Bearer',
        'proxy-authenticate': 'Basic',
        location: 'https://elsewhere.example',
        server: 'nginx',
        via: '1.1 proxy',
        'alt-svc': 'h3=":443"',
        'strict-transport-security': 'max-age=1',
        'access-control-allow-origin': '*',
        'x-weir-request-id': 'forged',
      },
      'req_1',
    );
    assert.deepEqual(
      passed,
      {
        'content-type': 'application/json',
        'retry-after': '3',
        'x-request-id': 'theirs',
        'x-weir-request-id': 'req_1',
      },
      vendor.id,
    );
  }
});

test('a list that is too wide still lets no cookie and no framing pass', () => {
  const upstream = { ...createFakeUpstream({}, client), passesReplyHeader: () => true };
  assert.deepEqual(
    passReplyHeaders(upstream, { 'set-cookie': ['a=1'], 'content-length': '1', 'x-a': undefined, 'x-b': ['1', '2'] }, 'req_1'),
    {
      'x-b': '1, 2',
      'x-weir-request-id': 'req_1',
    },
  );
});

test('on a translated call only listed headers pass, and none that describes the body or the connection', () => {
  const made = createFakeUpstream({ apiKey: 'sk-operator-secret' }, client);
  const headers = {
    'x-ratelimit-remaining-tokens': '5',
    'content-type': 'text/plain',
    'set-cookie': ['a=1'],
    'x-quota': 'of sk-operator-secret',
    other: '1',
  };
  assert.deepEqual(forwardReplyHeaders(made, headers), {});
  const listed = { ...made, forwardsReplyHeader: compileHeaderList(['x-*', 'content-*', 'set-cookie']) };
  assert.deepEqual(forwardReplyHeaders(listed, headers), { 'x-ratelimit-remaining-tokens': '5', 'x-quota': 'of [redacted]' });
});

test("the vendor's id of a call is read from either name, bounded, and shows no credential", () => {
  const read = (headers: Record<string, string>) => readUpstreamRequestId(headers, { apiKey: 'sk-operator-secret' });
  assert.equal(read({ 'request-id': 'a', 'x-request-id': 'b' }), 'a');
  assert.equal(read({ 'x-request-id': 'b' }), 'b');
  assert.equal(read({ 'x-request-id': 'b'.repeat(1000) })?.length, 256);
  assert.equal(read({ 'x-request-id': 'b-sk-operator-secret' }), 'b-[redacted]');
  assert.equal(read({}), undefined);
});

test('a header that quotes the operator’s key does not show it', () => {
  const upstream = createFakeUpstream({ apiKey: 'sk-operator-secret' }, client);
  assert.equal(passReplyHeaders(upstream, { 'x-request-id': 'of sk-operator-secret' }, 'req_1')['x-request-id'], 'of [redacted]');
});
