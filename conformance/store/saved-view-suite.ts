import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type SavedView, savedViewsMax } from '../../src/accounts/saved-views/saved-view.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const view = (id: string, more: Partial<SavedView> = {}): SavedView => ({
  id,
  owner: 'person_a',
  actor: 'person:ann',
  name: 'Spend "of" \ud800 teams',
  page: 'usage',
  query: '{"by":["team"]}',
  isShared: false,
  createdAtMs: 10,
  changedAtMs: 10,
  ...more,
});

/** The contract of every store for saved views. */
export function savedViewSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('a view is listed to its owner, and to others once it is shared; changes are in the audit log', async () => {
    const store = engine().store();
    assert.equal(await store.insertSavedView(view('view_1'), changeAt(10)), true);
    await store.insertSavedView(view('view_2', { page: 'calls', createdAtMs: 11 }), changeAt(11));
    await store.insertSavedView(view('view_3', { owner: 'person_b', createdAtMs: 11 }), changeAt(11));
    const list = async (query: object) => (await store.querySavedViews({ owner: 'person_a', limit: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await list({}), ['view_2', 'view_1']);
    assert.deepEqual(await list({ page: 'usage' }), ['view_1']);
    const version = await store.subjectVersion('saved_view:view_3');
    await assert.rejects(store.changeSavedView('view_3', { isShared: true }, { ...changeAt(20), expectedVersion: version - 1 }), {
      kind: 'version-mismatch',
    });
    assert.equal(await store.changeSavedView('view_3', { isShared: true }, { ...changeAt(20), expectedVersion: version }), true);
    assert.deepEqual(await list({}), ['view_3', 'view_2', 'view_1']);
    assert.deepEqual(await list({ limit: 1, after: { createdAtMs: 11, id: 'view_3' } }), ['view_2']);
    const changed = await store.findSavedView('view_3');
    assert.deepEqual([changed?.isShared, changed?.changedAtMs, changed?.name], [true, 20, 'Spend "of" \ufffd teams']);
    assert.equal(await store.changeSavedView('view_9', { name: 'x' }, changeAt(21)), false);
    assert.equal(await store.deleteSavedView('view_3', changeAt(22)), true);
    assert.equal(await store.deleteSavedView('view_3', changeAt(22)), false);
    const rows = await store.listAudit({ subject: 'saved_view:view_3', limit: 5 });
    assert.deepEqual(
      rows.map(({ action, after }) => [action, after?.includes('"shared":true') ?? false]),
      [
        ['saved_views.delete', false],
        ['saved_views.update', true],
        ['saved_views.create', false],
      ],
    );
  });

  test('an owner has a bounded number of views, and a removed person leaves only the shared ones', async () => {
    const store = engine().store();
    const person = { id: 'person_gone', name: 'goner', role: 'viewer', users: [], createdAtMs: 1, revision: 1 } as const;
    await store.insertPerson(person, changeAt(1));
    for (let made = 0; made < savedViewsMax; made += 1)
      await store.insertSavedView(view(`gone_${made}`, { owner: person.id, isShared: made === 0 }), changeAt(1));
    assert.equal(await store.insertSavedView(view('gone_more', { owner: person.id }), changeAt(1)), false);
    await store.deletePerson({ id: person.id }, changeAt(2));
    const left = await store.querySavedViews({ owner: person.id, limit: 300 });
    assert.deepEqual(
      left.filter(({ owner }) => owner === person.id).map(({ id }) => id),
      ['gone_0'],
    );
  });
}
