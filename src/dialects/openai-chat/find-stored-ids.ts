import { itemsOf, membersOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

/** Ids in a request of objects that the vendor stores, except files and objects that the gateway stores itself. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  for (const [index, message] of itemsOf(body.messages).entries()) {
    if (isStoredId(membersOf(membersOf(message).audio).id))
      yield { param: `messages[${index}].audio.id`, what: 'a spoken reply', instead: 'send its transcript as content' };
  }
}
