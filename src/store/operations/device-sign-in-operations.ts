import {
  type DeviceGrant,
  type DevicePoll,
  type DeviceSignIn,
  namesForToken,
  pollIntervalMs,
  pollToleranceMs,
  slowDownMs,
} from '../../accounts/people/devices/device-sign-in.ts';
import type { DeviceSignInStore } from '../../accounts/people/devices/device-sign-in-store.ts';
import type { SignInChange } from '../../accounts/people/session-store.ts';
import { StoreError } from '../store-error.ts';
import { insertToken, readPermissions, readUsers } from './admin-token-operations.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { findPerson } from './find-person.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const selectSignIns = `select id, client_name, address, asked, lasts_ms, created_at_ms, expires_at_ms, interval_ms, polled_at_ms, state,
  permissions, users, maker_id, decided_by from device_sign_ins`;

/** The SQL of sign-ins of other machines. */
export function createDeviceSignInOperations(database: Database): DeviceSignInStore {
  return {
    insertDeviceSignIn: (signIn, waitingMax) =>
      database.transact(async (transaction) => {
        const { id, deviceHash, userHash, clientName, address, permissions, lastsMs, createdAtMs, expiresAtMs } = signIn;
        await transaction.run('delete from device_sign_ins where expires_at_ms <= ?', createdAtMs);
        const count = await transaction.first('select count(*) as waiting from device_sign_ins');
        if (count !== undefined && readInteger(count, 'waiting') >= waitingMax) return 'full';
        const sql = `insert into device_sign_ins (id, device_hash, user_hash, client_name, address, asked, lasts_ms, created_at_ms,
          expires_at_ms, interval_ms, state) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting') on conflict do nothing`;
        const asked = permissions === undefined ? null : JSON.stringify(permissions);
        const texts = [id, deviceHash, userHash, clientName, address ?? null, asked] as const;
        return (await transaction.run(sql, ...texts, lastsMs, createdAtMs, expiresAtMs, pollIntervalMs)) === 0 ? 'taken' : 'inserted';
      }),
    findDeviceSignIn: async (userHash, nowMs) => {
      const row = await database.first(`${selectSignIns} where user_hash = ? and expires_at_ms > ?`, userHash, nowMs);
      return row === undefined ? undefined : decodeSignIn(row);
    },
    decideDeviceSignIn: ({ userHash, grant, expiresAtLeastMs }, change) =>
      database.transact(async (transaction) => {
        const row = await transaction.first(`${selectSignIns} where user_hash = ? and expires_at_ms > ?`, userHash, change.atMs);
        if (row === undefined) return 'unknown';
        const { id, state, expiresAtMs, ...asked } = decodeSignIn(row);
        if (state !== 'waiting') return 'decided';
        const sql = `update device_sign_ins set state = ?, permissions = ?, users = ?, maker_id = ?, decided_by = ?, expires_at_ms = ?
          where id = ?`;
        const given = grant === undefined ? [null, null, null] : encodeGrant(grant);
        const endMs = Math.max(expiresAtMs, expiresAtLeastMs);
        await transaction.run(sql, grant === undefined ? 'denied' : 'granted', ...given, change.actor, endMs, id);
        const { clientName, address, lastsMs } = asked;
        const after = JSON.stringify({ clientName, address, lastsMs, ...grant });
        const action = grant === undefined ? 'device_sign_ins.deny' : 'device_sign_ins.approve';
        await appendAudit(transaction, change, { action, subject: `device_sign_in:${id}`, after });
        return 'done';
      }),
    pollDeviceSignIn: ({ deviceHash, token }, change) =>
      database.transact(async (transaction): Promise<DevicePoll> => {
        const row = await transaction.first(`${selectSignIns} where device_hash = ? and expires_at_ms > ?`, deviceHash, change.atMs);
        if (row === undefined) return { state: 'unknown' };
        const signIn = decodeSignIn(row);
        if (signIn.state === 'waiting') return await notePoll(transaction, row, change.atMs);
        await transaction.run('delete from device_sign_ins where id = ?', signIn.id);
        return signIn.state === 'granted' ? await makeToken(transaction, { signIn, row, token }, change) : { state: 'denied' };
      }),
  };
}

/** Notes the time of a poll. A poll that comes too soon makes the time between polls longer. */
async function notePoll(transaction: Database, row: SqlRow, nowMs: number): Promise<DevicePoll> {
  const polledAtMs = readOptionalInteger(row, 'polled_at_ms');
  const isEarly = polledAtMs !== undefined && nowMs < polledAtMs + readInteger(row, 'interval_ms') - pollToleranceMs;
  const intervalMs = readInteger(row, 'interval_ms') + (isEarly ? slowDownMs : 0);
  const sql = 'update device_sign_ins set polled_at_ms = ?, interval_ms = ? where id = ?';
  await transaction.run(sql, nowMs, intervalMs, readText(row, 'id'));
  return isEarly ? { state: 'too-soon', intervalMs } : { state: 'waiting' };
}

type Granted = {
  readonly signIn: DeviceSignIn;
  readonly row: SqlRow;
  readonly token: Parameters<DeviceSignInStore['pollDeviceSignIn']>[0]['token'];
};

/** The token of a granted sign-in, unless the person who granted it is gone or disabled. */
async function makeToken(transaction: Database, { signIn, row, token }: Granted, change: SignInChange): Promise<DevicePoll> {
  const makerId = readOptionalText(row, 'maker_id');
  const maker = makerId === undefined ? undefined : await findPerson(transaction, { id: makerId });
  if (makerId !== undefined && (maker === undefined || maker.disabledAtMs !== undefined)) return { state: 'denied' };
  const author = { ...change, actor: readText(row, 'decided_by'), note: `device sign-in ${signIn.id} of ${signIn.clientName}` };
  for (const name of namesForToken(signIn, token.id)) {
    const made = {
      id: token.id,
      name,
      hint: token.hint,
      permissions: readPermissions(row),
      users: readUsers(row),
      ...(makerId === undefined ? {} : { makerId }),
      createdAtMs: change.atMs,
      expiresAtMs: change.atMs + signIn.lastsMs,
    };
    if (await insertToken(transaction, { ...made, hash: token.hash }, author)) return { state: 'granted', token: { ...made, revision: 1 } };
  }
  throw new StoreError('constraint', 'A random id of an admin token exists already.');
}

function encodeGrant({ permissions, users, makerId }: DeviceGrant): readonly (string | null)[] {
  return [JSON.stringify(permissions), users === 'all' ? null : JSON.stringify(users), makerId ?? null];
}

function decodeSignIn(row: SqlRow): DeviceSignIn {
  const state = (['waiting', 'granted', 'denied'] as const).find((each) => each === row['state']);
  if (state === undefined) throw new StoreError('corrupt', 'Column state of device_sign_ins is not a known state.');
  const address = readOptionalText(row, 'address');
  return {
    id: readText(row, 'id'),
    clientName: readText(row, 'client_name'),
    ...(address === undefined ? {} : { address }),
    ...(readOptionalText(row, 'asked') === undefined ? {} : { permissions: readPermissions(row, 'asked') }),
    lastsMs: readInteger(row, 'lasts_ms'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    state,
  };
}
