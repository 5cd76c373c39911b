import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { allowedHostsOf, blockedHostsOf, createDomainFilter } from './domain-filter.ts';

const url = (address: string): URL => new URL(address);

test('a host matches itself and its subdomains, and no similar name', () => {
  const isAllowed = createDomainFilter({ allowedDomains: ['example.com'] });
  for (const address of ['https://example.com/', 'https://www.example.com/a', 'http://EXAMPLE.com.:8080/', 'https://a.b.example.com'])
    assert.ok(isAllowed(url(address)), address);
  for (const address of [
    'https://notexample.com/',
    'https://example.com.evil.net/',
    'https://example.org/',
    'https://evil.net/example.com',
    'https://evil.net/?example.com',
    'https://example.com@evil.net/',
    'https://com/',
  ])
    assert.ok(!isAllowed(url(address)), address);
});

test('entries match in every spelling: case, scheme, wildcard, final dot, punycode, odd numbers', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['HTTPS://Example.COM', 'https://www.example.com/'],
    ['*.example.com', 'https://www.example.com/'],
    ['example.com.', 'https://example.com/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['xn--bcher-kva.example', 'https://bücher.example/'],
    ['2130706433', 'http://127.0.0.1/'],
    ['example.com:443', 'https://example.com/'],
  ];
  for (const [entry, address] of cases) {
    assert.ok(createDomainFilter({ allowedDomains: [entry] })(url(address)), entry);
    assert.ok(!createDomainFilter({ blockedDomains: [entry] })(url(address)), entry);
  }
});

test('a path matches by whole segments, with one star', () => {
  const docs = createDomainFilter({ allowedDomains: ['example.com/docs'] });
  assert.ok(docs(url('https://example.com/docs')));
  assert.ok(docs(url('https://www.example.com/docs/a?b')));
  assert.ok(!docs(url('https://example.com/docstrings')));
  assert.ok(!docs(url('https://example.com/')));
  const articles = createDomainFilter({ allowedDomains: ['example.com/*/articles'] });
  assert.ok(articles(url('https://example.com/en/articles/1')));
  assert.ok(!articles(url('https://example.com/en/news')));
});

test('an allowed list whose entries name no host allows nothing', () => {
  for (const entry of ['', ' ', 'https://', 'a b', '/docs', '[', 'exa mple.com'])
    assert.ok(!createDomainFilter({ allowedDomains: [entry] })(url('https://example.com/')), JSON.stringify(entry));
  assert.ok(createDomainFilter({ allowedDomains: [], blockedDomains: [''] })(url('https://example.com/')));
});

test('services receive hosts with allowed pages, and only hosts that are completely blocked', () => {
  const rules = {
    allowedDomains: ['a.example/docs', 'A.example', 'b.example'],
    blockedDomains: ['c.example/x', 'd.example', '*.e.example'],
  };
  assert.deepEqual(allowedHostsOf(rules), ['a.example', 'b.example']);
  assert.deepEqual(blockedHostsOf(rules), ['d.example', 'e.example']);
});

const label = fc.constantFrom('a', 'b', 'ab', 'www', 'docs', 'x1');
const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.example`);

test('property: a host passes exactly if it is, or is a subdomain of, an allowed host and no blocked one', () => {
  const within = (own: string, hosts: readonly string[]): boolean => hosts.some((other) => `.${own}`.endsWith(`.${other}`));
  fc.assert(
    fc.property(
      fc.array(host, { maxLength: 3 }),
      fc.array(host, { maxLength: 3 }),
      host,
      fc.array(label, { maxLength: 2 }),
      fc.boolean(),
      fc.constantFrom('/', '/a/b', '/a.example?b=c.example', '/#a.example'),
      (allowed, blocked, other, prefix, fromAllowed, path) => {
        const base = fromAllowed ? (allowed[0] ?? other) : other;
        const own = [...prefix, base].join('.');
        const expected = (allowed.length === 0 || within(own, allowed)) && !within(own, blocked);
        const filter = createDomainFilter({ allowedDomains: allowed, blockedDomains: blocked });
        assert.equal(filter(url(`https://${own}${path}`)), expected);
      },
    ),
    { numRuns: 2000 },
  );
});

test('property: no entry makes the filter throw', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' })),
      fc.array(fc.string()),
      fc.webUrl(),
      (allowedDomains, blockedDomains, address) => {
        createDomainFilter({ allowedDomains, blockedDomains })(url(address));
        allowedHostsOf({ allowedDomains });
      },
    ),
    { numRuns: 1000 },
  );
});
