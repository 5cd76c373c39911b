import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '../..');
const kubernetesFolder = join(root, 'deploy/kubernetes');

/** An object of Kubernetes, read without trust in its form. */
export type Manifest = Readonly<Record<string, any>> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, any>> & { readonly name: string };
};

export function readManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { merge: true }).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors[0]?.message);
    const content = document.toJS() as Manifest | null;
    return content === null ? [] : [content];
  });
}

/** The files of the base as they are, without kustomize. */
export function readBase(): readonly Manifest[] {
  const folder = join(kubernetesFolder, 'base');
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml' && name !== 'weir.yaml');
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'weir' },
    data: { 'weir.yaml': readFileSync(join(folder, 'weir.yaml'), 'utf8') },
  };
  return [...files.flatMap((name) => readManifests(readFileSync(join(folder, name), 'utf8'))), config];
}

/** Why kustomize cannot run here; false if it can. That of Debian 12 is too old for components. */
export const skipKustomize: false | string = findKustomizeProblem();

function findKustomizeProblem(): false | string {
  const { stdout, status } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  if (status !== 0) return 'kubectl is not installed; the base was checked without kustomize';
  const { clientVersion } = JSON.parse(stdout) as { readonly clientVersion: { readonly minor: string } };
  return Number.parseInt(clientVersion.minor, 10) >= 27 ? false : `kubectl 1.${clientVersion.minor} is too old for components`;
}

export function renderOverlay(name: string): readonly Manifest[] {
  return readManifests(execFileSync('kubectl', ['kustomize', join(kubernetesFolder, 'overlays', name)], { encoding: 'utf8' }));
}

/** Where the types of an API are in the package of Kubernetes' types. */
function moduleOf({ apiVersion }: Manifest): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  return `kubernetes-types/${group.replace(/\..*/, '')}/${version}`;
}

/**
 * Compares manifests with Kubernetes' own schemas, in the form of the types that are generated from them: the compiler
 * finds unknown members, missing ones and wrong types. Objects of extensions are left out.
 * @returns what the compiler says; empty if all are right
 */
export function findSchemaProblems(manifests: readonly Manifest[]): string {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'manifests-'));
  try {
    const known = manifests.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com'));
    const text = known.map((manifest, index) => {
      const type = `import('${moduleOf(manifest)}').${manifest.kind}`;
      return `// ${manifest.kind} ${manifest.metadata.name}\nexport const object${index}: ${type} = ${JSON.stringify(manifest, undefined, 1)};\n`;
    });
    writeFileSync(join(folder, 'manifests.ts'), text.join(''));
    const settings = {
      compilerOptions: { strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true, types: [] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, files: ['manifests.ts'] }));
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8', timeout: 120_000 });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
