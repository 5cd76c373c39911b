import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { billingRecordFields, encodeBillingRecords } from '../billing/statistics/billing-record.ts';
import { fakeRow } from '../billing/statistics/testing/fake-row.ts';
import { monitorOpenApi } from './open-api.ts';

type Document = { readonly components: { readonly schemas: Readonly<Record<string, object>> } };

function compile(name: string) {
  const document = monitorOpenApi() as Document;
  return new Ajv2020({ strict: false }).addSchema(document, 'api').getSchema(`api#/components/schemas/${name}`);
}

test('the description is plain JSON data', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(monitorOpenApi())), monitorOpenApi());
});

test('every reference in the description has a target', () => {
  const document = monitorOpenApi() as Document;
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1] ?? '');
  assert.ok(references.length > 10);
  for (const name of references) assert.ok(Object.hasOwn(document.components.schemas, name), name);
});

test('a real answer fits the published schemas, and the record lists the contract’s fields in their order', () => {
  const [record] = encodeBillingRecords([fakeRow()], 'UTC');
  const answer: unknown = JSON.parse(JSON.stringify({ code: 200, message: 'success', data: [record] }));
  assert.equal(compile('StatsReply')?.(answer), true);
  const schema = (monitorOpenApi() as Document).components.schemas['BillingRecord'] as { required: string[]; properties: object };
  assert.deepEqual(Object.keys(schema.properties), billingRecordFields);
  assert.deepEqual(schema.required, billingRecordFields);
});

test('a refusal fits its schema', () => {
  assert.equal(compile('Refusal')?.({ code: 401, message: 'invalid billing token: it is unknown or deleted', data: null }), true);
});
