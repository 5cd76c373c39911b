import type { DialectId } from '../../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { itemsOf, membersOf, objectsOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../../platform/json/json-value.ts';

/** A place of a request that names something which a vendor keeps. */
type StoredId = {
  readonly param: string;
  /** What is kept there, in words. */
  readonly what: string;
  readonly instead: string;
};

const inItself = 'send what is in it in the request itself';

const isId = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== '';

function* idsOfGemini(body: JsonObject): Generator<StoredId> {
  if (isId(body.cachedContent)) yield { param: 'cachedContent', what: 'a cache', instead: inItself };
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

/** Files of the vendor's own interface; an address of the web is nobody's. */
const isVendorFile = (uri: string): boolean => /^(?:files\/|gs:\/\/)|^https:\/\/generativelanguage\.googleapis\.com\//i.test(uri.trim());

function* idsOfMessages(body: JsonObject): Generator<StoredId> {
  const container = isId(body.container) ? body.container : membersOf(body.container).id;
  if (isId(container)) yield { param: 'container', what: 'a container', instead: 'leave it out: the vendor makes a new one' };
  for (const [index, skill] of objectsOf(membersOf(body.container).skills).entries()) {
    // Those of the vendor itself are everybody's.
    if (skill.type === 'custom')
      yield { param: `container.skills.${index}.skill_id`, what: 'a skill', instead: 'use a skill of the vendor' };
  }
}

function* idsOfResponses(body: JsonObject): Generator<StoredId> {
  if (isId(membersOf(body.prompt).id)) yield { param: 'prompt.id', what: 'a prompt', instead: 'send its text as instructions' };
  for (const [index, tool] of objectsOf(body.tools).entries()) {
    const { container_id: id } = membersOf(tool.environment);
    if (isId(tool.container) || isId(id))
      yield {
        param: `tools[${index}].${isId(id) ? 'environment.container_id' : 'container'}`,
        what: 'a container',
        instead: 'use the type auto',
      };
  }
}

function* idsOfChat(body: JsonObject): Generator<StoredId> {
  for (const [index, message] of itemsOf(body.messages).entries()) {
    if (isId(membersOf(membersOf(message).audio).id))
      yield { param: `messages[${index}].audio.id`, what: 'a spoken reply', instead: 'send its transcript as content' };
  }
}

const finders: Readonly<Record<DialectId, (body: JsonObject) => Generator<StoredId>>> = {
  'gemini-generate-content': idsOfGemini,
  'anthropic-messages': idsOfMessages,
  'openai-responses': idsOfResponses,
  'openai-chat': idsOfChat,
};

/**
 * Refuses a request that names something which a vendor keeps. The vendor knows the operator's credential alone, so it would give any caller what another one's call has made. Files, vector
 * stores, responses, conversations and threads are not looked at here: the gateway knows whose they are.
 * @throws GatewayError `object_not_found`
 */
export function refuseStoredIds(dialect: DialectId, body: JsonObject): void {
  const [found] = finders[dialect](body).take(1);
  if (found === undefined) return;
  const { param, what, instead } = found;
  throw new GatewayError(
    'object_not_found',
    `${param}: it names ${what} at the vendor of this model, and this gateway cannot tell whose it is. Please ${instead}, or ask the operator to allow such ids (storedIds of the upstream).`,
    { param, status: 400 },
  );
}
