import { type OpenTurn, type Recorder, createRecorder } from './record-response.ts';
import { describeUnknownReply } from '../../../attempts/routing/rank-targets.ts';
import type { IncomingCall } from '../incoming-call.ts';
import { isItemReference } from '../../../../conversations/to-stored-item.ts';
import type { Conversations, ResponseKeeper, StoredResponse } from '../../../../conversations/response-store.ts';
import { sinceCompaction } from '../../../../dialects/openai-responses/compaction.ts';
import { mayHave } from '../../../../dialects/request-survey.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { siblingId } from '../../../../platform/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../platform/json/json-value.ts';
import { readAhead } from '../../../../platform/json/lazy-object.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { expandBody, listInputItems, nameItems, requireOutputs } from './expand-input.ts';
import type { ResponseTurn, TurnRequest } from './response-turn.ts';

/** The history and the input of a request. */
type ContinuedHistory = {
  readonly previous: StoredResponse | undefined;
  readonly conversationId: string | undefined;
  /** The request's own input, with items in place of references. */
  readonly input: readonly JsonObject[];
  readonly hasReferences: boolean;
};

/**
 * Opens the turn of a call of the Responses interface. Undefined if the call neither continues nor stores anything
 * here.
 * @throws GatewayError `reply_not_found`, `object_not_found`, `conversation_locked`, `invalid_value` and
 * `responses_unavailable`
 */
export function openTurn(options: OpenTurn): Promise<ResponseTurn> | undefined {
  const open: OpenTurn = options.isBackground ? { ...options, state: 'gateway' } : options;
  const { request, state, call } = open;
  if (call.dialect.id !== 'openai-responses' || state === 'upstream') return undefined;
  const { body } = request;
  const continues = isPresent(body.previous_response_id) || isPresent(body.conversation);
  if (!continues && !storesReply(open) && !hasReference(body, call.dialect)) return undefined;
  return openRelevant(open);
}

const isPresent = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

function hasReference(body: JsonObject, { surveyRequest }: IncomingCall['dialect']): boolean {
  if (!mayHave(surveyRequest, body, 'reference')) return false;
  const { input } = body;
  return Array.isArray(input) && input.some((item) => isJsonObject(item) && isItemReference(item));
}

/** A retention of 0 days means that replies are never stored. */
function storesReply({ request, caller, settings }: OpenTurn): boolean {
  return (
    request.operation === 'generate' &&
    request.body.store !== false &&
    (caller.responseRetentionDays ?? settings.responseRetentionDays) !== 0
  );
}

async function openRelevant(open: OpenTurn): Promise<ResponseTurn> {
  const { gateway } = open;
  await readAhead(open.original.body);
  const continued = await findHistory(open);
  // The id is derived from the call's, so that the call and its receipt can be found by it.
  const replyId = siblingId(open.call.callId, 'resp') ?? gateway.newId('resp');
  const isReply = open.request.operation === 'generate';
  const recorder = createRecorder(open, isReply ? continued : { ...continued, conversationId: undefined }, replyId);
  try {
    return await createTurn(open, continued, { ...recorder, replyId });
  } catch (error) {
    recorder.close();
    throw error;
  }
}

async function createTurn(
  open: OpenTurn,
  continued: ContinuedHistory,
  recorder: Recorder & Pick<ResponseTurn, 'replyId'>,
): Promise<ResponseTurn> {
  const { gateway, request, facts, call, caller } = open;
  const keeper = chooseKeeper(open, continued);
  let currentKeeper = keeper;
  const { continues: _continues, ...plainFacts } = facts;
  const isExpanded = continued.previous !== undefined || continued.conversationId !== undefined || continued.hasReferences;
  let expanded: Promise<WireRequest> | undefined;
  const expand = async (): Promise<WireRequest> => {
    const items = sinceCompaction(await loadHistory(gateway.conversations, caller.userName, continued));
    requireOutputs(items, continued.input);
    const body = expandBody(request.body, [...items, ...continued.input]);
    return { ...request, body: await open.inlineFiles(body, namesHistory(request.body)) };
  };
  const ranked = isExpanded && keeper === undefined ? await expand() : request;
  const whole = (): WireRequest | Promise<WireRequest> => (ranked === request && isExpanded ? (expanded ??= expand()) : ranked);
  const isStored = storesReply(open);
  return {
    ...recorder,
    request: ranked,
    facts: ranked === request ? plainFacts : withoutContinued(call, ranked),
    keeper,
    forgetKeeper: (target) => {
      const wasKeeper = isKeeper(target, currentKeeper);
      if (wasKeeper) currentKeeper = undefined;
      return wasKeeper;
    },
    whole,
    requestFor: (target) => requestFor(target, { open, keeper: currentKeeper, isExpanded, whole }),
    isStored,
    keeps: isStored && !open.isBackground,
  };
}

function withoutContinued({ dialect }: IncomingCall, request: WireRequest): CallFacts {
  const { continues: _continues, ...facts } = dialect.readFacts(request);
  return facts;
}

function requestFor(
  target: Target,
  {
    open,
    keeper,
    isExpanded,
    whole,
  }: {
    readonly open: OpenTurn;
    readonly keeper: ResponseKeeper | undefined;
    readonly isExpanded: boolean;
    readonly whole: () => WireRequest | Promise<WireRequest>;
  },
): TurnRequest | Promise<TurnRequest> {
  const { request, bytes, state } = open;
  const isCompacted = open.facts.compacts === true && target.upstream.vendor.compacts !== true;
  const passes = state === 'auto' && (!isExpanded || isKeeper(target, keeper)) && !isCompacted;
  if (passes) return { request, bytes, translate: false };
  if (!isExpanded) return { request, bytes, translate: true };
  return writeWhole(whole());
}

async function writeWhole(expanding: WireRequest | Promise<WireRequest>): Promise<TurnRequest> {
  const request = await expanding;
  return { request, bytes: await writeJson(request.body), translate: true };
}

function isKeeper({ upstream }: Target, keeper: ResponseKeeper | undefined): boolean {
  return keeper !== undefined && upstream.id === keeper.upstream && upstream.credentialId === keeper.credential;
}

/** The upstream that can continue the response by its id alone: the one that made it, if the model still goes there. */
function chooseKeeper({ state, targets, call }: OpenTurn, { previous, hasReferences }: ContinuedHistory): ResponseKeeper | undefined {
  const keeper = previous?.keeper;
  if (keeper === undefined || state !== 'auto' || hasReferences) return undefined;
  const isTarget = targets.some((target) => isKeeper(target, keeper) && target.upstream.dialects.includes(call.dialect.id));
  return isTarget ? keeper : undefined;
}

/**
 * The request's own files are already inlined. A file that is missing now belongs to the history, and errors name that.
 */
function namesHistory(body: JsonObject): string {
  if (isPresent(body.conversation)) return 'conversation';
  return isPresent(body.previous_response_id) ? 'previous_response_id' : 'input';
}

async function findHistory(open: OpenTurn): Promise<ContinuedHistory> {
  const { gateway, original: request, caller } = open;
  const { body } = request;
  const previousId = body.previous_response_id;
  const previous = typeof previousId === 'string' ? await findPrevious(gateway.conversations, caller.userName, previousId) : undefined;
  const conversationId = readConversationId(body.conversation);
  const items = listInputItems(body.input);
  const resolved = await resolveReferences(gateway.conversations, caller.userName, items);
  // Only a reply adds to the conversation, so only a reply locks it.
  if (conversationId !== undefined && request.operation === 'generate') await lockConversation(open, conversationId);
  return { previous, conversationId, input: nameItems(resolved, gateway.newId), hasReferences: resolved !== items };
}

function readConversationId(value: JsonValue | undefined): string | undefined {
  const id = isJsonObject(value) ? value.id : value;
  return typeof id === 'string' ? id : undefined;
}

/** Only a response that has ended can be continued. */
async function findPrevious(conversations: Conversations, userName: string, id: string): Promise<StoredResponse> {
  const param = 'previous_response_id';
  const found = await fromStore(conversations.findResponse(userName, id));
  if (found === undefined) throw describeUnknownReply({ replyId: id, param });
  if (found.status === 'completed' || found.status === 'incomplete') return found;
  throw new GatewayError(
    'invalid_value',
    `${param}: the response '${id.slice(0, 100)}' is ${found.status.replace('_', ' ')}; only completed and incomplete responses can be continued`,
    { param },
  );
}

/** @returns the same list if it has no references */
async function resolveReferences(
  conversations: Conversations,
  userName: string,
  items: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const ids = items.filter(isItemReference).map(({ id }) => id);
  if (ids.length === 0) return items;
  const found = await fromStore(conversations.findItems(userName, ids));
  return items.map((item) => {
    if (!isItemReference(item)) return item;
    const { id } = item;
    const referred = found.get(id);
    if (referred !== undefined) return referred;
    throw new GatewayError('object_not_found', `Item with id '${id.slice(0, 100)}' not found.`, { param: 'input' });
  });
}

/** One response at a time continues a conversation, because the next one needs its output. */
async function lockConversation({ gateway, call, caller, settings }: OpenTurn, id: string): Promise<void> {
  const { conversations, clock } = gateway;
  const untilMs = clock.nowMs() + settings.timeouts.totalMs;
  const locked = await fromStore(conversations.lockConversation(caller.userName, id, call.callId, untilMs));
  if (locked === true) return;
  if (locked === undefined)
    throw new GatewayError('object_not_found', `Conversation with id '${id.slice(0, 100)}' not found.`, { param: 'conversation' });
  throw new GatewayError(
    'conversation_locked',
    'Another process is currently operating on this conversation. Please retry in a few seconds.',
    { param: 'conversation', retryAfterSeconds: 2 },
  );
}

async function loadHistory(
  conversations: Conversations,
  userName: string,
  { previous, conversationId }: ContinuedHistory,
): Promise<readonly JsonObject[]> {
  if (conversationId !== undefined) {
    const items = await fromStore(conversations.readConversation(userName, conversationId));
    if (items !== undefined) return items;
    throw new GatewayError('object_not_found', `Conversation with id '${conversationId}' not found.`, { param: 'conversation' });
  }
  if (previous === undefined) return [];
  const chain = await fromStore(conversations.readChain(userName, previous.id));
  if (chain !== undefined) return chain;
  throw describeUnknownReply({ replyId: previous.id, param: 'previous_response_id' });
}

/** A failure of the store is not a missing object: the call is refused before anything is spent. */
async function fromStore<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('responses_unavailable', 'stored responses cannot be read at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  }
}
