import { membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

/** Everything that a request names which its vendor keeps, files and what the gateway keeps itself left out. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  const container = isStoredId(body.container) ? body.container : membersOf(body.container).id;
  if (isStoredId(container)) yield { param: 'container', what: 'a container', instead: 'leave it out: the vendor makes a new one' };
  for (const [index, skill] of objectsOf(membersOf(body.container).skills).entries()) {
    // Those of the vendor itself are everybody's.
    if (skill.type === 'custom')
      yield { param: `container.skills.${index}.skill_id`, what: 'a skill', instead: 'use a skill of the vendor' };
  }
}
