import assert from 'node:assert/strict';
import { test } from 'node:test';

import { canLeaveOut, leaveOut, narrowTo, readWithout, wordWithout } from './leave-out.ts';

test('one name is excluded beside those that are excluded already, each once', () => {
  const first = leaveOut({}, ['user'], ['ann']);
  assert.deepEqual(first, { 'not.user': ['ann'] });
  assert.deepEqual(leaveOut(first, ['user'], ['bob']), { 'not.user': ['ann', 'bob'] });
  assert.deepEqual(leaveOut(first, ['user'], ['ann']), { 'not.user': ['ann'] });
  assert.deepEqual(leaveOut({}, ['tag:project'], ['blue']), { 'not.tag': ['project=blue'] });
});

test('a key is excluded by the names of its user and its own', () => {
  assert.deepEqual(leaveOut({}, ['key'], ['ann', 'app']), { 'not.key': ['ann/app'] });
  assert.deepEqual(narrowTo(['key', 'model'], ['ann', 'app', 'gpt-5']), { key: 'ann/app', model: 'gpt-5' });
});

test('of two groupings the calls that have both names are left out, whatever characters they have', () => {
  const names = ['ann', 'app', 'a&b=c/d e'];
  const search = leaveOut({}, ['key', 'model'], names);
  assert.deepEqual(readWithout(search, ['key', 'model']), [{ key: ['ann/app'], model: ['a&b=c/d e'] }]);
  assert.equal(wordWithout(search['without']?.[0] ?? ''), 'key ann/app, model a&b=c/d e');
  assert.deepEqual(readWithout({ without: ['tag=one%3Da&tag=two%3Db'] }, ['tag']), [{ tag: ['one=a', 'two=b'] }]);
});

test('an address that somebody wrote by hand leaves out what it can name, and nothing else', () => {
  assert.deepEqual(readWithout({ without: ['nonsense', 'constructor=x', 'user=ann&password=x'] }, ['user']), [{ user: ['ann'] }]);
});

test('calls without a name are left out only where a filter can say so', () => {
  assert.equal(canLeaveOut(['team'], ['']), true);
  assert.equal(canLeaveOut(['tag:project'], ['']), true);
  assert.equal(canLeaveOut(['upstream'], ['']), false);
  assert.equal(canLeaveOut(['user', 'upstream'], ['ann', '']), false);
});
