import { membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

/** Finds the ids of objects that the vendor stores, except files and objects that the gateway stores itself. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  const container = isStoredId(body.container) ? body.container : membersOf(body.container).id;
  if (isStoredId(container)) yield { param: 'container', what: 'a container', instead: 'leave it out: the vendor makes a new one' };
  for (const [index, skill] of objectsOf(membersOf(body.container).skills).entries()) {
    // Skills of the vendor belong to everybody.
    if (skill.type === 'custom')
      yield { param: `container.skills.${index}.skill_id`, what: 'a skill', instead: 'use a skill of the vendor' };
  }
}
