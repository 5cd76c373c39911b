import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** The folder of the chart. */
export const chart = join(root, 'deploy/helm/weir');
const here = join(import.meta.dirname, 'helm');

/** The values with which the chart is rendered; `default` has none of its own. */
export const valueFiles = { default: undefined, everything: join(here, 'everything.yaml'), least: join(here, 'least.yaml') } as const;
type Name = keyof typeof valueFiles;
const names = Object.keys(valueFiles) as readonly Name[];

/** Why the chart cannot be rendered here; undefined if it can. */
export const whyNotRendered: string | undefined =
  spawnSync('go', ['version']).status === 0 && existsSync('/usr/share/gocode/src/github.com/Masterminds/sprig')
    ? undefined
    : 'the engine needs golang-go, golang-github-masterminds-sprig-dev and golang-k8s-sigs-yaml-dev; the kept output was compared by its digest';

/** The digest of everything that decides about the output. */
function digestOf(name: Name): string {
  const files = readdirSync(chart, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  const values = valueFiles[name];
  for (const path of [...files.toSorted(), join(here, 'main.go'), ...(values === undefined ? [] : [values])])
    hash.update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

const pathOf = (name: Name): string => join(here, 'rendered', `${name}.yaml`);

/** The output that was kept, and whether it is that of the present chart. */
export function readRendered(name: Name): { readonly text: string; readonly isCurrent: boolean } {
  const text = readFileSync(pathOf(name), 'utf8');
  return { text, isCurrent: text.startsWith(`# ${digestOf(name)}\n`) };
}

/** Renders the chart with Go's templates and sprig, the engine of Helm. */
export function renderChart(name: Name): string {
  const values = valueFiles[name];
  const output = execFileSync('go', ['run', join(here, 'main.go'), chart, 'weir', 'models', ...(values === undefined ? [] : [values])], {
    encoding: 'utf8',
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: '/tmp/weir-go-cache', GOFLAGS: '' },
    timeout: 300_000,
  });
  return `# ${digestOf(name)}\n# Written by node conformance/deploy/render-chart.ts from the chart. Do not edit.\n${output}`;
}

if (import.meta.main) for (const name of names) writeFileSync(pathOf(name), renderChart(name));
