import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A package of npm that a release contains. `form` says how: `program` and `console` are bundled into those, `separate`
 * has a folder of its own.
 * @typedef {{ path: string, name: string, version: string, integrity?: string, licence: string, needs: string[],
 *   form: 'program' | 'console' | 'separate' }} Part
 */

/**
 * Lists every package that a release contains, from what the bundlers say that they read, and from the lock.
 * @param {string} root the repository
 * @param {{ inputs: Record<string, unknown> }} metafile of the bundle
 * @param {string[]} separate names of the packages that the bundle imports
 * @returns {Part[]} sorted by path
 */
export function listParts(root, metafile, separate) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const forms = new Map();
  for (const path of JSON.parse(readFileSync(join(root, 'console/dist/packages.json'), 'utf8'))) forms.set(path, 'console');
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(input)?.[0].slice(0, -1);
    if (found !== undefined) forms.set(found, 'program');
  }
  const waiting = separate.map((name) => find(lock, '', name));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (forms.get(path) === 'separate') continue;
    forms.set(path, 'separate');
    waiting.push(...needsOf(lock, path));
  }
  return [...forms.keys()].toSorted(byName).map((path) => describe(root, lock, path, forms.get(path)));
}

/** The order of the bytes, which no language setting changes. */
export const byName = (one, other) => (one < other ? -1 : 1);

function describe(root, lock, path, form) {
  const { version, integrity, license } = lock[path] ?? {};
  if (version === undefined) throw new Error(`package-lock.json does not have ${path}, which is in the release.`);
  const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  if (manifest.version !== version) throw new Error(`${path} is ${manifest.version}, not ${version} as in the lock: run npm ci.`);
  const licence = license ?? manifest.license?.type ?? manifest.license ?? manifest.licenses?.map(({ type }) => type).join(' OR ');
  if (typeof licence !== 'string') throw new Error(`${path} names no licence.`);
  return { path, name: manifest.name, version, integrity, licence, needs: needsOf(lock, path), form };
}

/** Types are no part of a running program. */
const isTypes = (name) => name.startsWith('@types/');

function needsOf(lock, path) {
  const names = Object.keys(lock[path]?.dependencies ?? {}).filter((name) => !isTypes(name));
  return names.map((name) => find(lock, path, name));
}

/** The folder that Node finds for a name: the nearest one above. */
function find(lock, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (lock[path] !== undefined) return path;
    if (base === '') throw new Error(`package-lock.json does not have ${name}, which ${from || 'the release'} needs.`);
  }
}

const licenceName = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;

/** The texts of the licences in the folder of a package. Some packages have none. */
function licenceTexts(folder) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => licenceName.test(name) && !/\.(?:js|ts)$/.test(name)) : [];
  return names.toSorted().map((name) => readFileSync(join(folder, name), 'utf8').trim());
}

/** The licences of all parts as one text. Equal texts are written once. */
export function describeLicences(root, parts) {
  const byText = new Map();
  for (const part of parts) {
    const text = licenceTexts(join(root, part.path)).join('\n\n') || `The package contains no text. Its licence is ${part.licence}.`;
    byText.set(text, [...(byText.get(text) ?? []), `${part.name} ${part.version} (${part.licence})`]);
  }
  const sections = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return `Weir contains the packages below, under these licences.\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
