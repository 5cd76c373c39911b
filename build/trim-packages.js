import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
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
  /^(?:mediabunny\/dist\/bundles|yaml\/browser|mammoth\/browser|linkedom\/(?:cjs|types\/(?!esm)[^/]+)|underscore\/(?:amd|cjs))$/,
  /^(?:@tanstack\/[^/]+\/(?:build\/legacy|dist\/cjs|src)|fast-check\/lib\/(?:cjs|types57)|nodemailer\/dist\/cjs)$/,
  /^(?:@google\/genai\/dist\/(?:tokenizer|vertex_internal)|protobufjs\/dist|axe-core\/locales|lodash\/fp)$/,
  // Pages of a recorder that no suite opens; streams for browsers that have none; other forms of bills of materials.
  /^(?:oxc-parser\/src-js\/generated\/lazy|(?:pako|jszip)\/dist)$/,
  /^(?:playwright-core\/lib\/vite|web-streams-polyfill\/dist|@cyclonedx\/cyclonedx-library\/dist\.web)$/,
];

/** Source maps, types for Flow, documents that are no licences, and TypeScript, which Node refuses to run in packages. */
const unusedFiles = /\.(?:map|flow)$|^(?!licen[cs]e|copying|notice).*\.mdx?$|(?<!\.d)\.[cm]?ts$/i;

/**
 * Single files: React's renderers for servers and profilers; languages that `npm run format` does not read; faces of a
 * font and methods of a library that nothing imports; schemas of other versions; the form of a module that nothing loads.
 */
const unusedParts = [
  /^react-dom\/cjs\/react-dom-(?:profiling|server)/,
  /^oxfmt\/dist\/(?:flow|jiti|v\d)-/,
  /^@fontsource-variable\/inter\/files\/(?!inter-latin-wght-normal)/,
  /^lodash\/(?!lodash\.js|package\.json|LICENSE)/,
  /^@cyclonedx\/cyclonedx-library\/res\/schema\/bom-(?!1\.6\.SNAPSHOT\.schema\.json)/,
  /^@google\/genai\/dist\/(?:node\/)?index\.cjs$|^@google\/genai\/dist\/index\.mjs$|^axe-core\/axe\.js$/,
  /^@google\/genai\/dist\/genai\.d\.ts$/,
  /^(?:zod\/.*(?<!\.d)|(?:@modelcontextprotocol|@opentelemetry|@tanstack|seroval)\/.*)\.cjs$/,
  /^(?:@modelcontextprotocol|@opentelemetry|@tanstack|seroval)\/.*\.d\.cts$/,
];

/**
 * Packages whose types nobody reads: programs, and what the client of AWS uses inside. `npm run check` would miss them.
 */
const untyped =
  /^(?:knip|oxfmt|oxlint|rolldown|lightningcss|jiti|@cyclonedx\/[^/]+|@ai-sdk\/openai-compatible|fflate|@aws-sdk\/(?:credential-[^/]+|nested-clients|token-providers|xml-builder|eventstream-[^/]+|signature-[^/]+|middleware-[^/]+)|@smithy\/(?:credential-[^/]+|fetch-http-handler))\//;

/**
 * Packages with each module twice: `x.mjs` for `import`, which is all that Weir and its tests do, and `x.js`. One
 * module of `openai` imports the other form.
 */
const twice =
  /^(?:ai|openai(?!\/internal\/auth\/x509-transport-state)|@anthropic-ai\/[^/]+|@ai-sdk\/[^/]+|@openai\/[^/]+|@base-ui\/[^/]+|@mediabunny\/[^/]+)\//;
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
      else {
        trim(place, inner);
        if (readdirSync(join(place.base, inner)).length === 0) rmdirSync(join(place.base, inner));
      }
    } else if (entry.isFile() && isUnused(own, entry.name, { names, inner, ...place })) rmSync(join(place.base, inner));
  }
}

function isUnused(path, name, { names, inner, hasCompiler }) {
  // Releases ship what Node says about itself.
  if (path.startsWith('node-')) return false;
  if (unusedFiles.test(name) || unusedParts.some((pattern) => pattern.test(path))) return true;
  if (declaration.test(name))
    return (
      !hasCompiler ||
      untyped.test(inner) ||
      (declaredTwice.test(path) && names.has(name.replace(/\.d\.ts$/, '.d.mts')) && name.endsWith('.d.ts'))
    );
  return twice.test(path) && (/\.min\.m?js$/.test(name) || (name.endsWith('.js') && names.has(name.replace(/\.js$/, '.mjs'))));
}
