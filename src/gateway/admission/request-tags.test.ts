import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ApiKey } from '../../accounts/api-key.ts';
import type { CallTags } from '../../accounts/call-tags.ts';
import { withHeaderTags, withMetadataTags } from './request-tags.ts';

const key = (tags?: CallTags): ApiKey => ({
  id: 'key_1',
  userId: 'user_1',
  userName: 'alice',
  name: 'ci',
  hint: 'cret',
  createdAtMs: 0,
  strictTranslation: false,
  ...(tags === undefined ? {} : { tags }),
});
const members = { project: 'project_id', stage: 'stage' };

test('a request without tags leaves its caller as it is', () => {
  const caller = key({ env: 'prod' });
  assert.equal(withHeaderTags(caller, {}), caller);
  assert.equal(withMetadataTags(caller, undefined, { project_id: 'web' }), caller);
  for (const metadata of [undefined, null, [], 'text', {}, { other: 'web' }, { project_id: null }])
    assert.equal(withMetadataTags(caller, members, metadata), caller);
});

test("the key's tags win over the header, and the header over metadata", () => {
  const headed = withHeaderTags(key({ env: 'prod' }), { 'x-weir-tags': 'project=web, env=dev' });
  assert.deepEqual(headed.tags, { env: 'prod', project: 'web' });
  const full = withMetadataTags(headed, members, { project_id: 'other', stage: 'beta' });
  assert.deepEqual(full.tags, { env: 'prod', project: 'web', stage: 'beta' });
});

test('a value in metadata that loses is not checked', () => {
  assert.deepEqual(withMetadataTags(key({ project: 'web' }), members, { project_id: 7 }).tags, { project: 'web' });
});

test('bad values are refused with the name of the header or of the member', () => {
  const eight = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`t${index}`, '1']));
  const cases: readonly (readonly [param: string, read: () => unknown, message: RegExp])[] = [
    ['x-weir-tags', () => withHeaderTags(key(), { 'x-weir-tags': 'web' }), /"web" is not a tag: write name=value/],
    ['x-weir-tags', () => withHeaderTags(key(), { 'x-weir-tags': '' }), /"" is not a tag/],
    ['x-weir-tags', () => withHeaderTags(key(eight), { 'x-weir-tags': 'project=web' }), /more than 8 tags with the 8/],
    ['metadata.project_id', () => withMetadataTags(key(), members, { project_id: '=1' }), /value of the tag project is not allowed/],
    ['metadata.project_id', () => withMetadataTags(key(), members, { project_id: 7 }), /its value is no text/],
    ['labels.stage', () => withMetadataTags(key(), members, { stage: '' }, 'labels'), /value of the tag stage is not allowed/],
  ];
  for (const [param, read, message] of cases) assert.throws(read, { code: 'invalid_value', status: 400, param, message });
});
