import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { asText, isRecord, recordsOf } from './read-json.ts';
import type { Json, JsonRecord } from './simulated-vendor.ts';

// The vendors' API descriptions are beside the repository if they are available; the relaxations below correct their
// errors.
const folder = new URL('../../../shared/reference/specs/', import.meta.url);

/** The reason why tests against the descriptions are skipped; false if they are available. */
export const skipWithoutSpecs = existsSync(folder) ? false : "the vendors' API descriptions are not beside this repository";

type Relaxation = { readonly nullable: readonly string[]; readonly unrequired: readonly string[]; readonly isClosed: boolean };

/**
 * A vendor's API description: its unchanged schemas, and validators of single ones, relaxed where real messages
 * deviate.
 */
export type VendorSpec = { readonly schemas: JsonRecord; readonly validator: (name: string) => ValidateFunction };

/** Known deviations of real replies from each description. */
const relaxations: Readonly<Record<string, Relaxation>> = {
  openai: {
    nullable: ['user', 'usage', 'system_fingerprint', 'description'],
    unrequired: ['logprobs', 'cache_write_tokens', 'tools', 'action'],
    isClosed: false,
  },
  anthropic: {
    nullable: [],
    unrequired: [
      'container',
      'stop_details',
      'inference_geo',
      'service_tier',
      'cache_creation',
      'server_tool_use',
      'web_fetch_requests',
      'caller',
    ],
    isClosed: false,
  },
  // Every member is listed here, so an unlisted one is a mistake.
  'gemini-v1beta': { nullable: [], unrequired: [], isClosed: true },
};

const specs = new Map<string, VendorSpec>();

type Walk = { readonly schemas: JsonRecord; readonly relaxation: Relaxation; readonly add: (name: string) => void };

/** Reads a description once, and compiles only the requested schemas: `openai`, `anthropic` or `gemini-v1beta`. */
export function readSpec(name: string): VendorSpec {
  const known = specs.get(name);
  if (known) return known;
  const document = JSON.parse(readFileSync(new URL(`${name}.openapi.json`, folder), 'utf8')) as { components: { schemas: JsonRecord } };
  const { schemas } = document.components;
  const added = new Set<string>();
  const ajv = new Ajv({ strict: false, validateFormats: false, inlineRefs: false });
  const add = (schemaName: string): void => {
    if (added.has(schemaName)) return;
    added.add(schemaName);
    const relaxation = relaxations[name] ?? { nullable: [], unrequired: [], isClosed: false };
    const relaxed = relax(schemas[schemaName] ?? {}, { schemas, relaxation, add });
    ajv.addSchema(isRecord(relaxed) ? relaxed : {}, schemaName);
  };
  const spec: VendorSpec = {
    schemas,
    validator(schemaName) {
      add(schemaName);
      const validate = ajv.getSchema(schemaName);
      assert.ok(validate, `no schema ${schemaName}`);
      return validate;
    },
  };
  specs.set(name, spec);
  return spec;
}

const annotations = new Set(['description', 'example', 'examples', 'discriminator', 'title', 'default', 'nullable', 'x-oaiMeta']);

const referredName = (reference: Json | undefined): string => asText(reference).split('/').at(-1) ?? '';

function relax(node: Json, walk: Walk): Json {
  if (Array.isArray(node)) return node.map((item) => relax(item, walk));
  if (!isRecord(node)) return node;
  const result: JsonRecord = {};
  for (const [key, value = null] of Object.entries(node)) {
    if (annotations.has(key) && !isRecord(value)) continue;
    if (key === 'discriminator' || key === 'x-oaiMeta') continue;
    if (key === '$ref') {
      walk.add(referredName(value));
      result.$ref = referredName(value);
    } else if (key === 'properties' && isRecord(value)) {
      result.properties = Object.fromEntries(
        Object.entries(value).map(([name, property = null]) => [name, relaxProperty(name, property, walk)]),
      );
    } else if (key === 'required' && Array.isArray(value)) {
      result.required = value.filter((name) => !isOptional(asText(name), node, walk));
    } else {
      result[key === 'oneOf' ? 'anyOf' : key] = relax(value, walk);
    }
  }
  if (walk.relaxation.isClosed && result.properties && !('additionalProperties' in result)) result.additionalProperties = false;
  return node.nullable === true ? { anyOf: [result, { type: 'null' }] } : result;
}

function relaxProperty(name: string, property: Json, walk: Walk): Json {
  const relaxed = relax(property, walk);
  return walk.relaxation.nullable.includes(name) ? { anyOf: [relaxed, { type: 'null' }] } : relaxed;
}

function isOptional(name: string, node: JsonRecord, { relaxation, schemas }: Walk): boolean {
  const properties = isRecord(node.properties) ? node.properties : {};
  return relaxation.unrequired.includes(name) || isNullable(properties[name], schemas);
}

function isNullable(node: Json | undefined, schemas: JsonRecord): boolean {
  if (!isRecord(node)) return false;
  if (node.$ref !== undefined) return isNullable(schemas[referredName(node.$ref)], schemas);
  if (node.nullable === true || node.type === 'null' || (Array.isArray(node.type) && node.type.includes('null'))) return true;
  return recordsOf(node.anyOf ?? node.oneOf).some((branch) => isNullable(branch, schemas));
}

/** All members that a description names, those of its parts included. */
export function membersOf(node: Json | undefined, schemas: JsonRecord): JsonRecord {
  if (!isRecord(node)) return {};
  if (node.$ref !== undefined) return membersOf(schemas[referredName(node.$ref)], schemas);
  const inherited = recordsOf(node.allOf).map((part) => membersOf(part, schemas));
  return Object.assign({}, ...inherited, isRecord(node.properties) ? node.properties : {}) as JsonRecord;
}

/** Fails with the reason if a value does not match a description. */
export function assertValid(validate: ValidateFunction, value: unknown, note: string): void {
  if (validate(value)) return;
  assert.fail(`${note}: ${JSON.stringify(value).slice(0, 600)}\n${JSON.stringify(validate.errors?.slice(0, 5), null, 1)}`);
}
