import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { hashSecret } from '../../hash-secret.ts';
import { localMaker } from '../admin-tokens.ts';
import { createSignInLimits } from '../sign-in-limits.ts';
import { namesForToken } from './device-sign-in.ts';
import type { DeviceSignInStore, NewDeviceSignIn } from './device-sign-in-store.ts';
import { createDeviceSignIns, parseUserCode } from './device-sign-ins.ts';

/** Device sign-ins over a store in memory that knows one row, with a clock that the test moves. */
function start(answers: Partial<DeviceSignInStore> = {}) {
  const inserted: NewDeviceSignIn[] = [];
  let nowMs = 1_000_000;
  let looked = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const store: DeviceSignInStore & { pepper: () => Promise<string> } = {
    pepper: async () => 'pepper',
    insertDeviceSignIn: async (signIn) => {
      inserted.push(signIn);
      return 'inserted';
    },
    findDeviceSignIn: async (userHash) => {
      looked += 1;
      const row = inserted.find((each) => each.userHash === userHash);
      return row === undefined ? undefined : { ...row, state: 'waiting' };
    },
    decideDeviceSignIn: async () => 'done',
    pollDeviceSignIn: async () => ({ state: 'unknown' }),
    ...answers,
  };
  const limits = createSignInLimits(clock);
  const devices = createDeviceSignIns({ store, clock, random: randomBytes, ids: (prefix) => `${prefix}_1`, limits });
  return { devices, inserted, looked: () => looked, advance: (ms: number) => void (nowMs += ms) };
}

const machine = { clientName: 'ann@laptop' };
const ann = { ...localMaker, personId: 'per_ann' };
const from = { address: '10.0.0.1' };
const authorOf = (address: string) => ({ actor: 'person:ann', via: 'api', address }) as const;

describe('sign-ins of other machines', () => {
  test('codes are random, ten letters without look-alikes, and only their hashes reach the store', async () => {
    const { devices, inserted } = start();
    const codes = new Set<string>();
    for (let index = 0; index < 20; index += 1) {
      const begun = await devices.begin(machine, from);
      assert.ok(!('retryAfterSeconds' in begun));
      assert.match(begun.userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{5}-[BCDFGHJKLMNPQRSTVWXZ]{5}$/);
      assert.match(begun.deviceCode, /^[0-9A-Za-z]{43}$/);
      assert.equal(begun.expiresAtMs, 1_600_000);
      codes.add(begun.userCode).add(begun.deviceCode);
      const row = inserted.at(-1) ?? assert.fail();
      assert.equal(row.userHash, hashSecret('pepper', begun.userCode.replace('-', '')));
      assert.doesNotMatch(JSON.stringify(row), new RegExp(`${begun.userCode.replace('-', '')}|${begun.deviceCode}`));
    }
    assert.equal(codes.size, 40);
  });

  test('a code is read in any case, with spaces and dashes; other text is not a code and costs no look-up', async () => {
    assert.equal(parseUserCode(' bcdfg-hjklm '), 'BCDFGHJKLM');
    assert.equal(parseUserCode('BCD FGH JKL M'), 'BCDFGHJKLM');
    const { devices, looked } = start();
    for (const text of ['', 'BCDFG-HJKL', 'BCDFG-HJKLMN', 'ABCDE-FGHIJ', '12345-67890', `${' '.repeat(70)}BCDFGHJKLM`])
      assert.equal(await devices.find(text, ann, from), undefined, text);
    assert.equal(looked(), 0);
  });

  test('after ten wrong codes a person has one try a minute from any address, and a right code is not counted', async () => {
    const { devices, advance } = start();
    const begun = await devices.begin(machine, from);
    assert.ok(!('retryAfterSeconds' in begun));
    for (let index = 0; index < 30; index += 1) assert.ok(await devices.find(begun.userCode, ann, { address: `10.1.0.${index}` }));
    for (let index = 0; index < 10; index += 1)
      assert.equal(await devices.approve('XXXXX-XXXXX', {}, ann, authorOf(`10.2.0.${index}`)), undefined);
    for (const limited of [
      await devices.find(begun.userCode, ann, { address: '10.3.0.1' }),
      await devices.approve(begun.userCode, {}, ann, authorOf('10.3.0.2')),
      await devices.deny(begun.userCode, ann, authorOf('10.3.0.3')),
    ])
      assert.deepEqual(limited, { retryAfterSeconds: 60 });
    assert.ok(await devices.find(begun.userCode, { ...ann, personId: 'per_bob' }, { address: '10.3.0.4' }));
    advance(60_000);
    assert.equal(typeof (await devices.approve(begun.userCode, {}, ann, authorOf('10.3.0.5'))), 'object');
  });

  test('an address begins thirty at once and one in two seconds, and asks for thirty unknown device codes', async () => {
    const { devices, advance } = start();
    for (let index = 0; index < 30; index += 1) assert.ok('userCode' in (await devices.begin(machine, from)));
    assert.deepEqual(await devices.begin(machine, from), { retryAfterSeconds: 2 });
    assert.ok('userCode' in (await devices.begin(machine, { address: '10.0.0.2' })));
    advance(2000);
    assert.ok('userCode' in (await devices.begin(machine, from)));
    for (let index = 0; index < 30; index += 1) assert.deepEqual(await devices.poll('x'.repeat(43), from), { state: 'unknown' });
    assert.deepEqual(await devices.poll('x'.repeat(43), from), { retryAfterSeconds: 2 });
  });

  test('a machine gets what it asks for as far as the person has it, or what the person chooses of its own', async () => {
    const viewer = {
      permissions: new Set(['usage:read', 'calls:read', 'credits:read', 'audit:read'] as const),
      users: ['ann'],
      personId: 'per_ann',
    };
    const { devices } = start();
    const begun = await devices.begin({ ...machine, permissions: ['people:write', 'usage:read'] }, from);
    assert.ok(!('retryAfterSeconds' in begun));
    const approve = async (choice: { permissions?: string[]; users?: string[] }) => {
      const given = await devices.approve(begun.userCode, choice, viewer, authorOf('10.0.0.1'));
      return typeof given === 'object' && 'grant' in given ? given.grant : assert.fail();
    };
    assert.deepEqual(await approve({}), { permissions: ['usage:read'], users: ['ann'], makerId: 'per_ann' });
    assert.deepEqual((await approve({ permissions: ['credits:read', 'calls:read'] })).permissions, ['calls:read', 'credits:read']);
    await assert.rejects(approve({ permissions: ['audit:read'] }), { code: 'not_permitted', message: /leads to all users/ });
    await assert.rejects(approve({ permissions: ['people:write'] }), { code: 'not_permitted' });
    await assert.rejects(approve({ users: ['bob'] }), { code: 'unknown_user' });
    const greedy = await devices.begin({ ...machine, permissions: ['people:write'] }, from);
    assert.ok(!('retryAfterSeconds' in greedy));
    await assert.rejects(devices.approve(greedy.userCode, {}, viewer, authorOf('10.0.0.1')), { code: 'not_permitted' });
  });

  test('a machine that asks for nothing gets nothing that needs a recent sign-in, also from an operator', async () => {
    const { devices } = start();
    const begun = await devices.begin(machine, from);
    assert.ok(!('retryAfterSeconds' in begun));
    const open = await devices.find(begun.userCode, localMaker, {});
    assert.ok(open !== undefined && 'grant' in open);
    assert.ok(open.grant.permissions.includes('keys:write') && !open.grant.permissions.includes('tokens:write'));
    assert.ok(!('makerId' in open.grant));
  });

  test('a taken user code is replaced by another, and a full table is a reason to wait', async () => {
    const taken = start({ insertDeviceSignIn: async () => 'taken' });
    assert.deepEqual(await taken.devices.begin(machine, from), { retryAfterSeconds: 600 });
    const full = start({ insertDeviceSignIn: async () => 'full' });
    assert.deepEqual(await full.devices.begin(machine, from), { retryAfterSeconds: 600 });
    await assert.rejects(start().devices.begin({ clientName: '\u202Eevil' }, from), { code: 'invalid_name' });
    await assert.rejects(start().devices.begin({ ...machine, lastsMs: 91 * 86_400_000 }, from), { code: 'invalid_expiry' });
  });

  test('names of tokens are names, also those of long machines', () => {
    const names = namesForToken({ clientName: '𝒳'.repeat(64) }, '0123456789');
    assert.equal(names.length, 10);
    for (const name of names) assert.ok(Array.from(name).length <= 64);
    assert.deepEqual(namesForToken({ clientName: 'ann@pc' }, '0123456789').slice(0, 2), ['ann@pc', 'ann@pc 2']);
  });
});
