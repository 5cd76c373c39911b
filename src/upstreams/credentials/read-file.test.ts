import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CredentialMeans } from './credential-means.ts';
import { CredentialError } from './credential-source.ts';
import { readNamedFile, readUsualFile } from './read-file.ts';

const signal = new AbortController().signal;
const failing = (code: string): Pick<CredentialMeans, 'readFile'> => ({
  readFile: () => Promise.reject(Object.assign(new Error('the words of the system'), { code })),
});

test('a usual file that is missing is none; one that cannot be read is an error', async () => {
  assert.equal(await readUsualFile('/a', failing('ENOENT'), signal), undefined);
  assert.equal(await readUsualFile('/a', failing('ENOTDIR'), signal), undefined);
  await assert.rejects(readUsualFile('/a', failing('EACCES'), signal), new CredentialError('/a cannot be read (EACCES)'));
});

test('a file that was named must be there, and the error says who named it', async () => {
  await assert.rejects(
    readNamedFile('NAME', '/a', failing('ENOENT'), signal),
    /^CredentialError: NAME names \/a, which cannot be read \(ENOENT\)$/,
  );
});
