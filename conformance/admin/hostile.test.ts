import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import fc from 'fast-check';

import type { Operation } from '../../src/admin/operation.ts';
import { operations } from '../../src/admin/resources/registry.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, openBrowser, signInByLink } from './console-client.ts';

type Sent = { readonly params: readonly string[]; readonly query: string; readonly body: unknown };

/** A value near what a schema wants: of the right type and wrong, of another type, or too large. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e15,
    0.5,
    '',
    'x',
    'none',
    '25',
    '2026-11-26T00:00:00Z',
    '2026-02-30T00:00:00Z',
    [],
    {},
    ['x'],
    { a: 1 },
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant('x'.repeat(3000)),
);

/** Bodies that have the members of the operation's schema, with values that may not fit. */
function bodiesOf({ schemas }: Operation<never>): fc.Arbitrary<unknown> {
  if (schemas.body === undefined) return fc.constant(undefined);
  const names = Object.keys((schemas.body as { properties?: object }).properties ?? {});
  const members = fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: [] });
  return fc.oneof(members, anyValue);
}

function requestsOf(operation: Operation<never>): fc.Arbitrary<Sent> {
  const places = operation.path.match(/\{\w+\}/g)?.length ?? 0;
  const text = fc.oneof(
    fc.constantFrom('admin', '0', '%00', '../..', '__proto__', 'req_01jd8', 'x'.repeat(300)),
    fc.string({ minLength: 1, maxLength: 20 }),
  );
  const names = [...Object.keys(operation.schemas.query?.properties ?? {}), 'other'];
  const query = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.oneof(text, fc.constantFrom('-1', '1e9', 'true', '2026-13-01T00:00:00Z'))), {
      maxLength: 3,
    })
    .map((pairs) => new URLSearchParams(pairs).toString());
  return fc.record({ params: fc.array(text, { minLength: places, maxLength: places }), query, body: bodiesOf(operation) });
}

describe('hostile requests to the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  before(async () => {
    const config = 'console: { readContent: true, requestsPerMinute: 100000 }\n';
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
  });
  after(() => weir[Symbol.asyncDispose]());

  // These would end the session that the others need.
  const kept = operations.filter(({ id }) => !['session.delete', 'session.set_password', 'people.end_sessions'].includes(id));

  for (const operation of kept) {
    test(`${operation.id}: wrong values of any kind are refused, and never a failure of the server`, async () => {
      await fc.assert(
        fc.asyncProperty(requestsOf(operation), async ({ params, query, body }) => {
          const values = [...params];
          const path = operation.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ''));
          const answer = await operator.send(operation.method, `/api/v1${path}?${query}`, body, { 'if-match': '*' });
          assert.ok(answer.status < 500 && answer.status !== 429, `${answer.status} ${answer.text}`);
          if (answer.status >= 400) assert.equal(typeof answer.body['code'], 'string', answer.text);
        }),
        { numRuns: 12 },
      );
    });

    test(`${operation.id}: without a session it is refused`, async () => {
      if (operation.access === 'anybody') return;
      const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
      const answer = await openBrowser(weir.consoleUrl).send(operation.method, `/api/v1${path}`, undefined, { 'if-match': '*' });
      assert.deepEqual([answer.status, answer.body['code']], [401, 'unauthenticated']);
    });
  }
});
