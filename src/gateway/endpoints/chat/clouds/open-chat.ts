import { GatewayError } from '../../../../inference/gateway-error.ts';
import { applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import { membersOf, textOf, textsOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readAhead } from '../../../../platform/json/lazy-object.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import { type ReadRequest, nameModel, readJsonObject } from '../../../admission/read-request.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { GatewayLimits } from '../../../settings/limits.ts';
import { editMembers } from '../../../../platform/json/edit-members.ts';
import { servedName } from './served-name.ts';
import { createFieldNotes } from '../../../../inference/translation-notes.ts';
import { openConverse, type OpenedConverse } from './converse/open-converse.ts';

/** The form in which a cloud's clients send a chat. The path has what the dialect has in its body. */
export type CloudForm = {
  /** Undefined if the body names it. */
  readonly model?: string;
  /** Members that the path decides. */
  readonly members?: JsonObject;
  /** Whether the request is Bedrock's count, which contains the request that is counted. */
  readonly isWrappedCount?: boolean;
  /** Whether the request is one of Converse. */
  readonly isConverse?: boolean;
  /** Called with the facts about a request of Converse that its reply depends on. */
  readonly onConverse?: (request: OpenedConverse) => void;
};

/** A chat in its dialect: the body and the headers that a client of the vendor would have sent. */
export type OpenedChat = ReadRequest & { readonly headers: WireRequest['headers']; readonly pathModel?: string };

type Opening = {
  readonly limits: GatewayLimits;
  readonly table: Pick<RoutingTable, 'routeOf'>;
  readonly headers: WireRequest['headers'];
  /** Whether the caller refuses losses. */
  readonly isStrict: boolean;
};

/** Members of a cloud's body that are headers at the vendor. */
const headerMembers = ['anthropic_version', 'anthropic_beta'] as const;

/** Members that a count of tokens does not have. A request that is counted is complete. */
const generateMembers = ['max_tokens', 'stream', 'temperature', 'top_k', 'top_p', 'stop_sequences', 'metadata'] as const;

const datedVersion = /^\d{4}-\d{2}-\d{2}$/;

/** The version of the interface that both clouds' own versions stand for. */
const usualVersion = '2023-06-01';

/**
 * Turns a Messages request in a cloud's form into one in the vendor's: `model` and `stream` into the body, the version
 * and the betas into headers. All other bytes stay. A request of Converse is written as one of Messages first.
 * @throws GatewayError if the request is not in that form
 */
async function openMessages(received: ReadRequest, form: CloudForm, opening: Opening): Promise<OpenedChat> {
  const { limits, table, headers } = opening;
  const { bytes, body } = await openBody(received, form, opening);
  const named = form.model ?? textOf(body['model']);
  const added = { ...(named === undefined ? {} : { model: servedName(named, table) }), ...form.members };
  const remove = [...headerMembers, ...(form.isWrappedCount === true ? generateMembers : [])];
  const set = Object.fromEntries(Object.entries(added).map(([name, value]) => [name, JSON.stringify(value)]));
  const opened = applyJsonEdits(bytes, editMembers({ body, bytes }, { remove, set }));
  return { bytes: opened, body: await readJsonObject(opened, limits), headers: openHeaders(body, headers) };
}

/** The request of Messages in the body of a cloud. */
async function openBody(received: ReadRequest, form: CloudForm, opening: Opening): Promise<ReadRequest> {
  const { isWrappedCount = false, isConverse = false } = form;
  if (isConverse || isWrappedCount) await readAhead(received.body);
  if (isConverse) return await openConverseBody(received.body, form, opening);
  if (!isWrappedCount) return received;
  const { converse } = membersOf(received.body['input']);
  return converse === undefined
    ? await unwrapCount(received, opening.limits)
    : await openConverseBody(membersOf(converse), { ...form, isWrappedCount: true }, opening);
}

/** The output limit of a model about which nothing is known. */
const usualOutputTokensMax = 4096;

async function openConverseBody(
  body: JsonObject,
  { model = '', isWrappedCount = false, onConverse }: CloudForm,
  { limits, table, isStrict }: Opening,
): Promise<ReadRequest> {
  const [target] = table.routeOf(servedName(model, table))?.targets ?? [];
  const outputTokensMax = target?.upstream.traitsOf(target.upstreamModel).outputTokensMax ?? usualOutputTokensMax;
  const opened = openConverse(body, { notes: createFieldNotes(isStrict), outputTokensMax, isCount: isWrappedCount });
  onConverse?.(opened);
  const bytes = await writeJson(opened.body);
  return { bytes, body: await readJsonObject(bytes, limits) };
}

/** The parts of a chat's path that decide how its request is read. */
type OpenedPath = { readonly dialect: DialectId; readonly cloud: CloudForm; readonly pathModel?: string | undefined };

/**
 * Turns a chat on a cloud's path into one on the dialect's own path.
 * @throws GatewayError if the request is not in the cloud's form
 */
export async function openChat(received: ReadRequest, { dialect, cloud, pathModel }: OpenedPath, opening: Opening): Promise<OpenedChat> {
  const { table, headers } = opening;
  if (dialect === 'anthropic-messages') return await openMessages(received, cloud, opening);
  if (pathModel !== undefined) return { ...received, headers, pathModel: servedName(pathModel, table) };
  const named = cloud.model ?? textOf(received.body['model']);
  const model = named === undefined ? undefined : servedName(named, table);
  if (model === undefined || model === received.body['model']) return { ...received, headers };
  return { ...(await nameModel(received, model, opening.limits)), headers };
}

function openHeaders(body: JsonObject, headers: WireRequest['headers']): WireRequest['headers'] {
  const version = textOf(body['anthropic_version']);
  const sent = [headers['anthropic-beta'] ?? '', ...textsOf(body['anthropic_beta'])].flatMap((list) => list.split(','));
  const betas = [...new Set(sent.map((beta) => beta.trim()).filter((beta) => beta !== ''))];
  return {
    ...headers,
    'anthropic-version': headers['anthropic-version'] ?? (version !== undefined && datedVersion.test(version) ? version : usualVersion),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  };
}

/** The request inside a count of Bedrock: `input.invokeModel.body` in Base64. */
async function unwrapCount({ body }: ReadRequest, limits: GatewayLimits): Promise<ReadRequest> {
  const param = 'input.invokeModel.body';
  const input = membersOf(body['input']);
  const wrapped = membersOf(input['invokeModel'])['body'];
  if (typeof wrapped !== 'string') {
    throw new GatewayError('missing_required_field', `${param}: is required, or input.converse`, { param });
  }
  const bytes = Buffer.from(wrapped, 'base64');
  return { bytes, body: await readJsonObject(bytes, limits) };
}
