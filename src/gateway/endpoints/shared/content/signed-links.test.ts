import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSignedLinks } from './signed-links.ts';

const links = createSignedLinks(Buffer.alloc(32, 7));
const hour = 3_600_000;
const nowMs = Date.UTC(2026, 10, 22, 6, 30);
const file = { id: 'task_1', userName: 'ann' };

function opens(query: string, { id = file.id, userName = file.userName, atMs = nowMs, by = links } = {}): boolean {
  const link = by.read(id, new URLSearchParams(query), atMs);
  return link !== undefined && by.isSigned(link, userName);
}

test('a link opens its own file for its owner, for a day', () => {
  const query = links.sign(file, nowMs);
  assert.ok(opens(query));
  assert.ok(opens(query, { atMs: nowMs + 24 * hour }));
  assert.ok(!opens(query, { atMs: nowMs + 25 * hour }));
});

test('a link opens nothing else', () => {
  const query = links.sign(file, nowMs);
  assert.ok(!opens(query, { id: 'task_2' }));
  assert.ok(!opens(query, { userName: 'bob' }));
  assert.ok(!opens(query, { by: createSignedLinks(Buffer.alloc(32, 8)) }));
});

test('the id and the owner of a file never run together', () => {
  const query = links.sign({ id: 'ab', userName: 'c' }, nowMs);
  assert.ok(!opens(query, { id: 'a', userName: 'bc' }));
});

test('a link with a changed, missing or repeated part opens nothing', () => {
  const query = links.sign(file, nowMs);
  const params = new URLSearchParams(query);
  const signature = params.get('signature') ?? '';
  const expires = params.get('expires') ?? '';
  for (let at = 0; at < signature.length; at += 1) {
    const other = signature[at] === 'A' ? 'B' : 'A';
    assert.ok(!opens(`expires=${expires}&signature=${signature.slice(0, at)}${other}${signature.slice(at + 1)}`), `character ${at}`);
  }
  for (const changed of [
    '',
    `expires=${expires}`,
    `signature=${signature}`,
    `expires=${Number(expires) + 1}&signature=${signature}`,
    `expires=0${expires}&signature=${signature}`,
    `expires=${expires}.0&signature=${signature}`,
    `expires=1e12&signature=${signature}`,
    `expires=${expires}&signature=${signature}%3D`,
    `expires=${expires}&signature=`,
    `${query}&expires=${expires}`,
    `${query}&signature=${signature}`,
  ])
    assert.ok(!opens(changed), changed);
});

test('a link ends with its file', () => {
  const expiresAtMs = nowMs + 2 * hour;
  const query = links.sign({ ...file, expiresAtMs }, nowMs);
  assert.ok(opens(query, { atMs: expiresAtMs - 1 }));
  assert.ok(!opens(query, { atMs: expiresAtMs }));
});

test('a link to a file stays the same within an hour', () => {
  assert.equal(links.sign(file, nowMs), links.sign(file, nowMs + 29 * 60_000));
  assert.notEqual(links.sign(file, nowMs), links.sign(file, nowMs + hour));
});
