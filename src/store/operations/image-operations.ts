import type { ImageStore, StoredImage } from '../../tasks/media/image-store.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';
import { toWhole } from './video-task-row.ts';

const fields = 'id, user_name, key_id, media_type, media_bytes, media_sha256, created_at_ms, expires_at_ms';

/** The SQL of images with links. */
export function createImageOperations(database: Database): ImageStore {
  return {
    addPictures: (pictures) =>
      database.transact(async (transaction) => {
        for (const picture of pictures) await insertImage(transaction, picture);
      }, 'read-committed'),
    findPicture: async (id) => {
      const row = await database.first(`select ${fields} from pictures where id = ?`, toStorableText(id));
      return row === undefined ? undefined : decodeImage(row);
    },
  };
}

async function insertImage(database: Database, picture: StoredImage): Promise<void> {
  const { id, userName, keyId, media, createdAtMs, expiresAtMs } = picture;
  const file = [toStorableText(media.mediaType), toWhole(media.bytes), toStorableText(media.sha256)] as const;
  await database.run(
    `insert into pictures (${fields}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
    toStorableText(id),
    toStorableText(userName),
    toStorableText(keyId),
    ...file,
    toWhole(createdAtMs),
    toWhole(expiresAtMs),
  );
}

function decodeImage(row: SqlRow): StoredImage {
  const id = readText(row, 'id');
  return {
    id,
    userName: readText(row, 'user_name'),
    keyId: readText(row, 'key_id'),
    media: {
      key: id,
      mediaType: readText(row, 'media_type'),
      bytes: readInteger(row, 'media_bytes'),
      sha256: readText(row, 'media_sha256'),
    },
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
  };
}

/** Deletes the rows of expired images and resolves with the keys of their files. */
export async function expireImages(
  database: Database,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await database.all(
    'select id from pictures where expires_at_ms <= ? order by expires_at_ms, id limit ?',
    toWhole(nowMs),
    limit,
  );
  const ids = rows.map((row) => readText(row, 'id'));
  for (const id of ids) await database.run('delete from pictures where id = ?', id);
  return ids;
}
