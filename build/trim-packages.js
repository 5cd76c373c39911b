import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Folders of packages, by their path in the package: documents, tests and examples; types for TypeScript 3; and forms
 * for bundlers and browsers, beside those that Node reads.
 */
const unusedFolders = [
  /^(?!@types\/)(?:@[^/]+\/)?[^@/]+\/(?:docs?|tests?|examples?|benchmarks?|demo)$/,
  // C headers for building native modules, and manuals. Weir builds none.
  /^node-(?:bin-)?(?:linux|darwin)-\w+\/(?:include|share)$/,
  /^@(?:aws-sdk|smithy)\/[^/]+\/(?:dist-es|dist-types\/ts3\.4)$/,
  /^@openai\/agents-realtime\/dist\/bundle$/,
  /^@google\/genai\/dist\/web$/,
  /^(?:mediabunny\/dist\/bundles|yaml\/browser|mammoth\/browser|linkedom\/cjs|underscore\/amd)$/,
];

/** Source maps, documents that are no licences, and TypeScript, which Node refuses to run in packages. */
const unusedFiles = /\.map$|^(?!licen[cs]e|copying|notice).*\.mdx?$|(?<!\.d)\.[cm]?ts$/i;

/**
 * Packages with each module twice: `x.mjs` for `import`, which is all that Weir and its tests do, and `x.js`. Some
 * modules of `openai` import the other form.
 */
const twice = /^(?:ai|@anthropic-ai\/[^/]+|@ai-sdk\/[^/]+|@openai\/[^/]+|@base-ui\/[^/]+|@mediabunny\/[^/]+)\//;
/** Packages that declare the types of both forms. */
const declaredTwice = /^(?:openai|@anthropic-ai\/[^/]+|@base-ui\/[^/]+)\//;

const declaration = /\.d\.[cm]?ts$/;

/**
 * Removes files of installed packages that nothing here reads: half of what npm writes. Packages that are links, such as
 * our own, are not touched.
 * @param {string} folder a `node_modules`
 */
export function trimPackages(folder) {
  // Without the compiler, nobody reads declarations of types.
  trim({ base: folder, hasCompiler: existsSync(join(folder, 'typescript')) }, '');
}

function trim(place, path) {
  const entries = readdirSync(join(place.base, path), { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  for (const entry of entries) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    // A package may have packages of its own.
    const own = inner.replace(/^.*\/node_modules\//, '');
    if (entry.isDirectory()) {
      if (inner.startsWith('.')) continue;
      if (unusedFolders.some((pattern) => pattern.test(own))) rmSync(join(place.base, inner), { recursive: true });
      else trim(place, inner);
    } else if (entry.isFile() && isUnused(own, entry.name, { names, ...place })) rmSync(join(place.base, inner));
  }
}

function isUnused(path, name, { names, hasCompiler }) {
  // Releases ship what Node says about itself.
  if (path.startsWith('node-')) return false;
  if (unusedFiles.test(name)) return true;
  if (declaration.test(name))
    return !hasCompiler || (declaredTwice.test(path) && names.has(name.replace(/\.d\.ts$/, '.d.mts')) && name.endsWith('.d.ts'));
  return twice.test(path) && (/\.min\.m?js$/.test(name) || (name.endsWith('.js') && names.has(name.replace(/\.js$/, '.mjs'))));
}
