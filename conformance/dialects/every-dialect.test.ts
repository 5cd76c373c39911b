import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { chatDialects, dialectIds } from '../../src/dialects/registry.ts';
import { gatewayOpenApi } from '../../src/gateway/server/routes/open-api.ts';
import { findRoute, wordingOfPath } from '../../src/gateway/endpoints/registry.ts';
import { operationNames } from '../../src/gateway/telemetry/metric-families.ts';
import { upstreamVendors } from '../../src/upstreams/registry.ts';
import { chatInterfaces } from '../support/interfaces.ts';

// Lists outside the folder of a dialect that no type requires: each would omit a new dialect without an error.
const sources = join(import.meta.dirname, '../../src');

describe('a dialect of the registry is in every list', () => {
  for (const id of dialectIds) {
    const dialect = chatDialects[id];
    test(`${id}: it is registered under its own name, in a folder of that name with fixtures of whole replies and streams`, () => {
      assert.equal(dialect.id, id);
      const fixtures = readdirSync(join(sources, 'dialects', id, 'fixtures'));
      for (const kind of [/\.reply\.json$/, /\.stream\.(?:sse|json)$/])
        assert.ok(
          fixtures.some((file) => kind.test(file)),
          String(kind),
        );
    });

    const asked = chatInterfaces.find((chat) => chat.dialect === id);
    test(`${id}: clients of the suites speak it, and their requests are routed to it`, () => {
      assert.ok(asked !== undefined, 'conformance/support/interfaces.ts has no client of it');
      const path = asked.path('some-model', true).split('?')[0] ?? '';
      assert.equal(wordingOfPath(path, asked.headers).label, id, 'wordingOfPath writes errors of its path in another dialect');
      const match = findRoute('POST', path);
      assert.ok(match.found && match.route.quote !== undefined, 'no endpoint has a route to it');
    });

    test(`${id}: an upstream that generates calls speaks it`, () => {
      const speaking = Object.values(upstreamVendors).filter(({ dialects }) => dialects.includes(id));
      assert.ok(speaking.length > 0);
      const facts = { project: 'p' };
      for (const vendor of speaking)
        assert.ok(vendor.locate({ dialect: id, operation: 'generate', upstreamModel: 'm' }, facts) !== undefined, vendor.id);
    });

    test(`${id}: telemetry and the description of the interface know it`, () => {
      assert.equal(operationNames[id], dialect.telemetryOperation);
      const path = asked?.path('{model}', false) ?? '';
      const described = gatewayOpenApi() as { readonly paths: Readonly<Record<string, object>> };
      assert.ok(Object.hasOwn(described.paths, path), path);
    });
  }

  test('two dialects have different names', () => {
    assert.equal(new Set(dialectIds.map((id) => chatDialects[id].title)).size, dialectIds.length);
  });
});
