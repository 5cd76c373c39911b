import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isPrivateMedium } from '../../../platform/http/public-address.ts';
import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

const members = Object.values(chatDialects).map(({ mediaMembers }) => mediaMembers);

/**
 * Members of any chat interface, because servers accept members of other interfaces. Arguments and results of functions
 * are not included: their addresses are text. A member that leads to media at the top also does so below, except
 * `input`, which holds arguments there.
 */
const roots: ReadonlySet<string> = new Set(members.flatMap((of) => [...of.roots, ...of.through]));
const mediaPaths: ReadonlySet<string> = new Set([...roots].filter((name) => name !== 'input'));
const addresses: ReadonlySet<string> = new Set(members.flatMap((of) => of.addresses));

const depthMax = 12;

/**
 * Refuses a chat request that names an image, document, audio file or video in a private network. An upstream fetches
 * these addresses, and one that the operator runs would fetch them from inside the operator's network.
 * @throws GatewayError `invalid_value`, with the field
 */
export function refusePrivateAddresses(dialect: DialectId, body: JsonValue): void {
  if (!isJsonObject(body)) return;
  const { itemPath } = chatDialects[dialect];
  for (const name in body) if (roots.has(name)) findIn(body[name], name, itemPath);
}

type ItemPath = ChatDialect['itemPath'];

function findIn(value: JsonValue | undefined, path: string, itemPath: ItemPath, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > depthMax) return;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly JsonValue[]).entries())
      if (typeof item === 'object') findIn(item, itemPath(path, index), itemPath, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name in value) {
    const member = value[name];
    const isText = typeof member === 'string';
    // `file_data` is a text in the interfaces of OpenAI, which may be an address, and a part in that of Gemini.
    if (addresses.has(name) && (isText || !mediaPaths.has(name)))
      checkAddress(isText ? member : isJsonObject(member) ? member.url : undefined, isText ? `${path}.${name}` : `${path}.${name}.url`);
    else if (name === 'url' && path.endsWith('.source')) checkAddress(member, `${path}.url`);
    else if (mediaPaths.has(name)) findIn(member, `${path}.${name}`, itemPath, depth + 1);
  }
}

/**
 * Refuses an address of media in a private network, or of a file of the machine that reads it.
 * @param param the field, for the error
 * @throws GatewayError `invalid_value`
 */
export function checkAddress(url: JsonValue | undefined, param: string): void {
  if (typeof url !== 'string' || !isPrivateMedium(url)) return;
  throw new GatewayError(
    'invalid_value',
    `Invalid '${param}': the address is in a private network. Name a public address, send the data itself, or ask the operator to allow private addresses (media.privateAddresses).`,
    { param },
  );
}
