import type { UserRemainsStore } from '../../accounts/user-remains.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';

const ofUser = `key_id in (select api_keys.id from api_keys join users on users.id = api_keys.user_id where users.name = ?)`;

/** The SQL of what requests of a user left behind. */
export function createUserRemainsOperations(database: Database): UserRemainsStore {
  return {
    eraseRemains: (userName) =>
      database.transact(async (transaction) => {
        const name = toStorableText(userName);
        const callbacks = await transaction.run('delete from callback_deliveries where user_name = ?', name);
        // Expired: the sweep of gateways deletes the row together with the file.
        const images = await transaction.run('update pictures set expires_at_ms = 0 where user_name = ? and expires_at_ms > 0', name);
        const chunks = `delete from idempotency_chunks where request_id in (select request_id from idempotency_keys where state <> 0 and ${ofUser})`;
        await transaction.run(chunks, name);
        const keptReplies = await transaction.run(`delete from idempotency_keys where state <> 0 and ${ofUser}`, name);
        return { callbacks, keptReplies, images };
      }, 'read-committed'),
  };
}
