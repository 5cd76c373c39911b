import { itemsOf, membersOf, textOf, textsOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/** Which of the members that are sent on demand a client shall see. */
export type ShownMembers = {
  readonly searchSources: boolean;
  readonly searchResults: boolean;
  readonly fileResults: boolean;
  readonly codeOutputs: boolean;
  readonly proofs: boolean;
  readonly inputImages: boolean;
  readonly screenshots: boolean;
};

/** Everything, for a copy that is kept. */
export const everyMember: ShownMembers = {
  searchSources: true,
  searchResults: true,
  fileResults: true,
  codeOutputs: true,
  proofs: true,
  inputImages: true,
  screenshots: true,
};

/**
 * What a request asks to see, by its `include`. Clients that have nothing stored keep the history themselves, and need the proofs of
 * reasoning for it.
 */
export function readShownMembers({ include, store }: JsonObject): ShownMembers {
  const asked = textsOf(include);
  return {
    searchSources: asked.includes('web_search_call.action.sources'),
    searchResults: asked.includes('web_search_call.results'),
    fileResults: asked.includes('file_search_call.results'),
    codeOutputs: asked.includes('code_interpreter_call.outputs'),
    proofs: store === false || asked.includes('reasoning.encrypted_content'),
    inputImages: asked.includes('message.input_image.image_url'),
    screenshots: asked.includes('computer_call_output.output.image_url'),
  };
}

function without(object: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member));
}

function showWebSearch(item: JsonObject, shown: ShownMembers): JsonObject {
  const { action } = item;
  const told = shown.searchResults ? item : without(item, 'results');
  return shown.searchSources || !isJsonObject(action) ? told : { ...told, action: without(action, 'sources') };
}

function showContent(content: JsonValue | undefined): readonly JsonValue[] {
  return itemsOf(content).map((part) => (isJsonObject(part) && part.type === 'input_image' ? without(part, 'image_url') : part));
}

/** An item of a response or of its input as a client sees it: what it did not ask for is left out. The same object where that is nothing. */
export function showItem(item: JsonObject, shown: ShownMembers): JsonObject {
  switch (textOf(item.type) ?? '') {
    case 'web_search_call':
      return showWebSearch(item, shown);
    case 'file_search_call':
      return shown.fileResults ? item : { ...item, results: null };
    case 'code_interpreter_call':
      return shown.codeOutputs ? item : { ...item, outputs: null };
    case 'reasoning':
      return shown.proofs || item.encrypted_content === undefined ? item : without(item, 'encrypted_content');
    case 'computer_call_output':
      return shown.screenshots ? item : { ...item, output: without(membersOf(item.output), 'image_url') };
    case 'message':
      return shown.inputImages || !Array.isArray(item.content) ? item : { ...item, content: showContent(item.content) };
    default:
      return item;
  }
}

/** The beginning of the ids of reasoning items made here. The vendor never stored them, so `removeForeignProofs` must know them. */
export const ownReasoningPrefix = 'rs_gw';

/** Whether an item was made here for nothing but a proof, so that there is nothing of it to show to a client that does not see proofs. */
export function isBareProof({ type, id, summary, content }: JsonObject): boolean {
  const isOwn = type === 'reasoning' && textOf(id)?.startsWith(ownReasoningPrefix) === true;
  return isOwn && itemsOf(summary).length === 0 && itemsOf(content).length === 0;
}
