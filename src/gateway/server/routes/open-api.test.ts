import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ajv2020 } from 'ajv/dist/2020.js';

import { gatewayOpenApi } from './open-api.ts';
import { routes } from '../../endpoints/registry.ts';

type Operation = { readonly summary?: string; readonly responses?: Readonly<Record<string, { readonly description?: string }>> };
type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly { readonly name: string }[] };
type Document = {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

const document = gatewayOpenApi() as Document;
const methods = ['get', 'post', 'delete', 'head'];

test('the description is plain JSON data', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(document)), document);
});

test('every route has an operation with a description and answers', () => {
  const described = Object.values(document.paths).flatMap((item) => methods.filter((method) => item[method] !== undefined));
  assert.ok(described.length >= routes.length, `${described.length} operations for ${routes.length} routes`);
  for (const [path, item] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(item.parameters?.filter(({ name }) => name !== 'alt').map(({ name }) => name) ?? [], named, path);
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      assert.ok(operation.summary, `${method} ${path}`);
      for (const [status, { description }] of Object.entries(operation.responses ?? {})) {
        assert.match(status, /^[1-5]\d\d$/);
        assert.ok(description, `${method} ${path} ${status}`);
      }
    }
  }
});

test('every reference leads somewhere, and every schema is used and is a JSON Schema', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
  const names = Object.keys(document.components.schemas);
  assert.deepEqual(new Set(references), new Set(names));
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ components: document.components }, 'api');
  for (const name of names) assert.ok(ajv.getSchema(`api#/components/schemas/${name}`), name);
});
