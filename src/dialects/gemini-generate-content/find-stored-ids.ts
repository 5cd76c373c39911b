import { itemsOf, membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { isStoredId, type StoredId } from '../stored-id.ts';

const inItself = 'send what is in it in the request itself';

/** Finds the ids of objects that the vendor stores, except files and objects that the gateway stores itself. */
export function* findStoredIds(body: JsonObject): Generator<StoredId> {
  if (isStoredId(body.cachedContent)) yield { param: 'cachedContent', what: 'a cache', instead: inItself };
  for (const [index, content] of itemsOf(body.contents).entries()) {
    for (const [at, part] of itemsOf(membersOf(content).parts).entries()) {
      const { fileUri } = membersOf(membersOf(part).fileData);
      if (typeof fileUri === 'string' && isVendorFile(fileUri))
        yield { param: `contents[${index}].parts[${at}].fileData.fileUri`, what: 'a file', instead: 'send it as inlineData' };
    }
  }
  for (const [index, tool] of objectsOf(body.tools).entries()) {
    if (itemsOf(membersOf(tool.fileSearch).fileSearchStoreNames).length > 0)
      yield { param: `tools[${index}].fileSearch.fileSearchStoreNames`, what: 'a store of files', instead: inItself };
  }
}

/** Files of the vendor's own interface; a web address has no owner. */
const isVendorFile = (uri: string): boolean => /^(?:files\/|gs:\/\/)|^https:\/\/generativelanguage\.googleapis\.com\//i.test(uri.trim());
