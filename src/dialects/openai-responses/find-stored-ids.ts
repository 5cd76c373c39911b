import { membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

/** Ids in a request of objects that the vendor stores, except files and objects that the gateway stores itself. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  if (isStoredId(membersOf(body.prompt).id)) yield { param: 'prompt.id', what: 'a prompt', instead: 'send its text as instructions' };
  for (const [index, tool] of objectsOf(body.tools).entries()) {
    const { container_id: id } = membersOf(tool.environment);
    if (isStoredId(tool.container) || isStoredId(id))
      yield {
        param: `tools[${index}].${isStoredId(id) ? 'environment.container_id' : 'container'}`,
        what: 'a container',
        instead: 'use the type auto',
      };
  }
}
