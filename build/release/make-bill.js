import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Enums, Models, Serialize, Spec, SPDX } from '@cyclonedx/cyclonedx-library';

const packageAddress = (name, version) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;

/**
 * Makes the bill of materials of an artefact: CycloneDX 1.6 in JSON. The same parts give the same bytes.
 * @param {{ root: string, version: string, commit: string, madeAt: Date, parts: import('./shipped-parts.js').Part[] }} release
 * @param {{ name: string, version: string, integrity: string } | undefined} runtime the package of Node, if the artefact
 *   contains it
 */
export function makeBill({ root, version, commit, madeAt, parts }, runtime) {
  const bom = new Models.Bom();
  const weir = component('application', 'weir', version, 'Apache-2.0');
  weir.properties.add(new Models.Property('weir:commit', commit));
  bom.metadata.timestamp = madeAt;
  bom.metadata.component = weir;
  const components = new Map(parts.map((part) => [part.path, describePart(part)]));
  for (const { path, needs, form } of parts) {
    const own = components.get(path);
    bom.components.add(own);
    weir.dependencies.add(own.bomRef);
    // A bundler leaves out what is not used, so a need may be absent. A package with a folder has all that it needs.
    for (const need of needs)
      if (components.has(need)) own.dependencies.add(components.get(need).bomRef);
      else if (form === 'separate') throw new Error(`${path} needs ${need}, which is not in the release.`);
  }
  const python = describePython(root);
  components.get('node_modules/pyodide')?.components.add(python);
  if (runtime !== undefined) {
    const node = describeRuntime(runtime);
    bom.components.add(node);
    weir.dependencies.add(node.bomRef);
  }
  bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify([version, commit, runtime, parts]))}`;
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function component(type, name, version, licence) {
  const [, group, plain = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const purl = packageAddress(name, version);
  const found = new Models.Component(type, plain, { group, version, purl, bomRef: purl });
  found.licenses.add(describeLicence(licence));
  return found;
}

function describeLicence(licence) {
  if (SPDX.isSupportedSpdxId(licence)) return new Models.SpdxLicense(licence);
  return / (?:OR|AND|WITH) /.test(licence) ? new Models.LicenseExpression(licence) : new Models.NamedLicense(licence);
}

function describePart({ path, name, version, licence, integrity, form }) {
  const found = component('library', name, version, licence);
  // A package of one version may be there twice.
  found.bomRef.value = `${found.purl}#${path}`;
  found.properties.add(new Models.Property('weir:form', form));
  if (integrity !== undefined) found.hashes.set(Enums.HashAlgorithm['SHA-512'], hexOf(integrity));
  return found;
}

/** Node by the package that brought it, and by the name under which its vulnerabilities are published. */
function describeRuntime({ name, version, integrity }) {
  const found = component('platform', name, version, 'MIT');
  found.cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  found.hashes.set(Enums.HashAlgorithm['SHA-512'], hexOf(integrity));
  return found;
}

/** Python, which is in Pyodide as WebAssembly. */
function describePython(root) {
  const { info } = JSON.parse(readFileSync(join(root, 'node_modules/pyodide/pyodide-lock.json'), 'utf8'));
  const found = new Models.Component('library', 'cpython', { version: info.python, bomRef: `cpython@${info.python}` });
  found.purl = `pkg:generic/python@${info.python}`;
  found.cpe = `cpe:2.3:a:python:python:${info.python}:*:*:*:*:*:*:*`;
  found.licenses.add(new Models.SpdxLicense('Python-2.0'));
  return found;
}

const hexOf = (integrity) => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');

/** An id in the form of a random UUID, from a text. */
function uuidOf(text) {
  const bytes = createHash('sha256').update(text).digest();
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
