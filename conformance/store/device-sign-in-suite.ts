import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DeviceGrant } from '../../src/accounts/people/devices/device-sign-in.ts';
import type { NewDeviceSignIn } from '../../src/accounts/people/devices/device-sign-in-store.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import type { Store } from '../../src/store/store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The contract of every store for sign-ins of other machines. */
export function deviceSignInSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const store = (): Store => engine().store();

  const newSignIn = (label: string, changes: Partial<NewDeviceSignIn> = {}): NewDeviceSignIn => ({
    id: `dev_${label}`,
    clientName: `laptop ${label}`,
    lastsMs: 5000,
    createdAtMs: 1000,
    expiresAtMs: 9000,
    deviceHash: `device-${label}`,
    userHash: `user-${label}`,
    ...changes,
  });
  const begin = (label: string, changes: Partial<NewDeviceSignIn> = {}) => store().insertDeviceSignIn(newSignIn(label, changes), 1000);
  const grant: DeviceGrant = { permissions: ['calls:read', 'usage:read'], users: ['ann'] };
  const approve = (from: Store, label: string, atMs = 2000, given: DeviceGrant = grant) =>
    from.decideDeviceSignIn(
      { userHash: `user-${label}`, expiresAtLeastMs: atMs + 60, grant: given },
      { ...changeAt(atMs), actor: 'person:Ann' },
    );
  const poll = (from: Store, label: string, atMs = 3000, tokenId = `tok-${label}`) =>
    from.pollDeviceSignIn(
      { deviceHash: `device-${label}`, token: { id: tokenId, hash: `hash-${tokenId}`, hint: 'abcd' } },
      { via: 'api', atMs, address: '10.0.0.7' },
    );

  test('a sign-in is read back by its user code until it expires, and nothing else opens it', async () => {
    assert.equal(await begin('read', { address: '10.0.0.7', permissions: ['audit:read'] }), 'inserted');
    const { deviceHash, userHash, ...described } = newSignIn('read', { address: '10.0.0.7', permissions: ['audit:read'] });
    assert.deepEqual(await store().findDeviceSignIn(userHash, 8999), { ...described, state: 'waiting' });
    assert.equal(await store().findDeviceSignIn(userHash, 9000), undefined, 'expired at the moment of its end');
    assert.equal(await store().findDeviceSignIn(deviceHash, 2000), undefined);
    assert.equal(await begin('again', { userHash }), 'taken');
  });

  test('expired ones are removed, and no more than the bound wait', async () => {
    await begin('old', { createdAtMs: 10, expiresAtMs: 20 });
    assert.equal(await begin('new', { userHash: 'user-old' }), 'inserted');
    assert.equal(await store().insertDeviceSignIn(newSignIn('one-more'), 1), 'full');
  });

  test('an approved code gives one token, even if two consoles are asked at once, and the log names who approved', async () => {
    const other = await engine().openAnother();
    await begin('once');
    assert.deepEqual(await poll(store(), 'once', 1500), { state: 'waiting' });
    assert.equal(await approve(store(), 'once'), 'done');
    const polled = await Promise.all([poll(store(), 'once', 3000, 'tok-a'), poll(other, 'once', 3000, 'tok-b')]);
    assert.deepEqual(polled.map(({ state }) => state).toSorted(), ['granted', 'unknown']);
    const made = polled.find((each) => each.state === 'granted');
    const { token } = made?.state === 'granted' ? made : assert.fail();
    const expected = { name: 'laptop once', hint: 'abcd', ...grant, createdAtMs: 3000, expiresAtMs: 8000, revision: 1 };
    assert.deepEqual(token, { id: token.id, ...expected });
    assert.deepEqual(await other.findAdminTokenByHash(`hash-${token.id}`), { token });
    assert.equal((await store().listAdminTokens()).filter(({ name }) => name.startsWith('laptop once')).length, 1);
    assert.deepEqual(await poll(other, 'once'), { state: 'unknown' });
    const [approval] = await store().listAudit({ subject: 'device_sign_in:dev_once', limit: 5 });
    assert.deepEqual([approval?.action, approval?.actor], ['device_sign_ins.approve', 'person:Ann']);
    const [creation] = await store().listAudit({ subject: `admin_token:${token.id}`, limit: 5 });
    assert.deepEqual([creation?.action, creation?.actor, creation?.address], ['admin_tokens.create', 'person:Ann', '10.0.0.7']);
    assert.match(creation?.note ?? '', /dev_once/);
    assert.doesNotMatch(JSON.stringify([approval, creation]), /device-once|user-once|hash-tok/);
  });

  test('of two decisions at once one counts, and a later one changes nothing', async () => {
    const other = await engine().openAnother();
    await begin('twice');
    const refuse = (from: Store) => from.decideDeviceSignIn({ userHash: 'user-twice', expiresAtLeastMs: 0 }, changeAt(2000));
    const outcomes = await Promise.all([approve(store(), 'twice'), refuse(other)]);
    assert.deepEqual(outcomes.toSorted(), ['decided', 'done']);
    assert.equal(await approve(other, 'twice'), 'decided');
    const { state } = (await store().findDeviceSignIn('user-twice', 2000)) ?? assert.fail();
    assert.equal(state, outcomes[0] === 'done' ? 'granted' : 'denied');
    assert.equal((await store().listAudit({ subject: 'device_sign_in:dev_twice', limit: 5 })).length, 1);
  });

  test('a refused code is denied once, and an expired or unknown one opens nothing', async () => {
    await begin('refused');
    await store().decideDeviceSignIn({ userHash: 'user-refused', expiresAtLeastMs: 0 }, changeAt(2000));
    assert.deepEqual(await poll(store(), 'refused'), { state: 'denied' });
    assert.deepEqual(await poll(store(), 'refused'), { state: 'unknown' });
    assert.equal((await store().listAudit({ subject: 'device_sign_in:dev_refused', limit: 1 }))[0]?.action, 'device_sign_ins.deny');
    await begin('late');
    assert.equal(await approve(store(), 'late', 9000), 'unknown', 'expired');
    assert.deepEqual(await poll(store(), 'late', 9000), { state: 'unknown' });
    assert.equal(await approve(store(), 'nobody'), 'unknown');
  });

  test('an approval in the last moment still gives the machine time to fetch its token', async () => {
    await begin('last');
    assert.equal(await approve(store(), 'last', 8999), 'done');
    assert.equal((await poll(store(), 'last', 9058)).state, 'granted');
    await begin('gone');
    await approve(store(), 'gone', 8999);
    assert.deepEqual(await poll(store(), 'gone', 9059), { state: 'unknown' });
  });

  test('a machine that asks too often has to wait longer, whichever console it asks', async () => {
    const other = await engine().openAnother();
    await begin('fast', { expiresAtMs: 900_000 });
    assert.deepEqual(await poll(store(), 'fast', 10_000), { state: 'waiting' });
    assert.deepEqual(await poll(other, 'fast', 11_499), { state: 'too-soon', intervalMs: 7000 });
    assert.deepEqual(await poll(store(), 'fast', 17_998), { state: 'too-soon', intervalMs: 12_000 });
    assert.deepEqual(await poll(store(), 'fast', 29_600), { state: 'waiting' });
    await approve(store(), 'fast', 29_700);
    assert.equal((await poll(store(), 'fast', 29_701)).state, 'granted', 'what was granted need not wait');
  });

  test('a second token of the same machine gets a name of its own', async () => {
    const clientName = 'x'.repeat(64);
    const names: string[] = [];
    for (const label of ['n1', 'n2', 'n3']) {
      await begin(label, { clientName });
      await approve(store(), label);
      const polled = await poll(store(), label);
      if (polled.state === 'granted') names.push(polled.token.name);
    }
    assert.deepEqual(new Set(names).size, 3);
    for (const name of names) assert.ok(name.length <= 64, name);
  });

  test('a person who was disabled or deleted after the approval gives no token', async () => {
    for (const [label, end] of [
      ['off', (id: string) => store().changePerson({ id }, { disabled: true }, changeAt(7))],
      ['away', (id: string) => store().deletePerson({ id }, changeAt(7))],
    ] as const) {
      const id = `per_${label}`;
      await store().insertPerson({ id, name: `Approver ${label}`, role: 'viewer', users: [], createdAtMs: 5 }, changeAt(5));
      await begin(label);
      assert.equal(await approve(store(), label, 2000, { ...grant, makerId: id }), 'done');
      await end(id);
      assert.deepEqual(await poll(store(), label), { state: 'denied' });
      assert.ok(!(await store().listAdminTokens()).some(({ name }) => name === `laptop ${label}`));
    }
  });
}
