import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { type Manifest, readBase } from '../deploy/read-manifests.ts';
import { readPage } from './read-page.ts';

const suite = 'conformance/guides/guides-kubernetes.deep.test.ts';
const guide = join(import.meta.dirname, '../../docs/guide/kubernetes.md');

const skip = ['kubectl', 'openssl'].some((name) => spawnSync(name, ['version']).error !== undefined) && 'no kubectl or openssl';

/** The secrets to which manifests refer. */
function findSecrets(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secretRef, secret } = value as Record<string, any>;
  const found = [secretRef?.name, secret?.secretName].filter((name) => name !== undefined);
  return [...found, ...Object.values(value).flatMap(findSecrets)];
}

/** The names of the files of secrets that programs read. */
const findFiles = (manifests: readonly Manifest[]): readonly string[] =>
  [...JSON.stringify(manifests).matchAll(/\/run\/secrets\/[a-z-]+\/([a-z-]+)/g)].map(([, name = '']) => name);

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();

test('kubernetes.md: its commands make each secret and key that the manifests name, and no other', { skip }, () => {
  const block = readPage(readFileSync(guide, 'utf8')).find(({ marker }) => marker?.value === suite);
  assert.ok(block);
  // There is no cluster: the real program makes the objects and prints them.
  const script = `set -eu\nkubectl() { command kubectl "$@" --dry-run=client --output=json; printf '\\036'; }\n${block.text}`;
  const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\u001e').slice(0, -1);
  const made = printed.map((text) => JSON.parse(text) as Manifest);
  assert.deepEqual(
    made.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name),
    ['weir'],
  );
  const secrets = new Map(made.filter(({ kind }) => kind === 'Secret').map((one) => [one.metadata.name, Object.keys(one['data'])]));
  assert.deepEqual(unique([...secrets.keys()]), unique(findSecrets(readBase())));
  // The keys of vendors are variables, all of which a gateway gets.
  secrets.delete('weir-vendors');
  assert.deepEqual(unique([...secrets.values()].flat()), unique(findFiles(readBase())));
});
