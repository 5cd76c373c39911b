import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { commonRequestHeaders, identityHeaders, passClientHeaders } from './header-lists.ts';
import { upstreamVendors } from './registry.ts';

/** A header name that a list entry matches. */
const nameOf = (entry: string): string => entry.replace(/\*$/, 'x');

describe('client headers that an upstream may take for an identity', () => {
  for (const vendor of Object.values(upstreamVendors)) {
    test(`${vendor.id} receives no header that names an account or a user, unless its operator names it`, () => {
      const passes = passClientHeaders(vendor.requestHeaders);
      for (const entry of identityHeaders.operator) {
        const name = nameOf(entry);
        assert.equal(passes(name), false, name);
        assert.equal(passClientHeaders(vendor.requestHeaders, [name])(name), true, name);
      }
    });
  }

  test('each header that passes is a header of some vendor’s clients', () => {
    const passed = [...commonRequestHeaders, ...Object.values(upstreamVendors).flatMap(({ requestHeaders }) => requestHeaders)];
    const passes = passClientHeaders(passed);
    for (const entry of identityHeaders.passes) assert.equal(passes(nameOf(entry)), true, entry);
  });

  test('the decision page gives a reason for each header', () => {
    const page = readFileSync(new URL('../../docs/decisions/2026-11-23-client-headers.md', import.meta.url), 'utf8');
    for (const entry of Object.values(identityHeaders).flat()) assert.ok(page.includes(`\`${entry}\``), entry);
  });
});
