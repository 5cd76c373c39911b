import { itemsOf, membersOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

/** Everything that a request names which its vendor keeps, files and what the gateway keeps itself left out. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  for (const [index, message] of itemsOf(body.messages).entries()) {
    if (isStoredId(membersOf(membersOf(message).audio).id))
      yield { param: `messages[${index}].audio.id`, what: 'a spoken reply', instead: 'send its transcript as content' };
  }
}
