import type { GatewaySettings } from '../../attempts/services.ts';
import { chatDialects, upstreamDialects } from '../../../dialects/registry.ts';
import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { type InputMeasure, measureInput } from '../../../inference/measure-input.ts';
import { type TranslationNote, createTranslationNotes } from '../../../inference/translation-notes.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../platform/json/json-value.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { type SentRequest, forecastUsage, initialOutputTokens, withSentBound, withWholeWindow } from '../../attempts/books/bound-call.ts';
import { defaultCredits, defaultTools } from '../../settings/call-settings.ts';
import { alwaysHealthy } from '../../attempts/health/health.ts';
import { rankTargets, requireReach } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { boundToolCalls } from './tool-loop/loop-limits.ts';
import { needsToolLoop } from './tool-loop/run-tool-loop.ts';
import { type QuoteTarget, type QuotedCall, type QuotedTarget, fitTargets } from '../shared/quoted-call.ts';
import type { ChatServices } from './chat-services.ts';
import { orderImages } from './order-images.ts';
import { countTextCharacters } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { notFound } from '../shared/not-found.ts';

/** The route of a quoted chat. */
export type QuotedPath = {
  readonly dialect: DialectId;
  readonly operation: Exclude<Operation, 'count-tokens'>;
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
};

/**
 * Prices a chat: reads it exactly as a call, up to the point where it would be sent.
 * @throws GatewayError as such a call would if the request is invalid
 */
export async function quoteChat(target: QuoteTarget<ChatServices>, path: QuotedPath): Promise<QuotedCall> {
  const { gateway, settings, caller, headers } = target;
  const dialect = chatDialects[path.dialect];
  const { callback_url: _notified, ...body } = target.body;
  const wire: WireRequest = { headers, ...path, body: path.dialect === 'openai-responses' ? body : target.body };
  dialect.validateRequest(wire, settings.validation);
  const order = orderImages({ callId: '', dialect, routing: settings.routing, caller, request: wire });
  if (order !== undefined && gateway.imageMaker !== undefined) return gateway.imageMaker.quote(target, order);
  const facts = dialect.readFacts(wire);
  requireReach(caller, settings.routing, facts.requestedModel);
  const history = await readHistory(target, facts);
  const targets = rankTargets({
    table: settings.routing,
    dialect,
    facts: history.facts,
    request: wire,
    caller,
    kind: 'chat',
    ...(history.keptAt === undefined ? {} : { keptAt: history.keptAt }),
    health: alwaysHealthy,
    ...target.explained,
    nowMs: gateway.clock.monotonicMs(),
    random: () => 0,
  });
  const isLoop = needsToolLoop(gateway, { dialect, facts, settings, targets });
  const input = measureInput([wire.body, history.items]);
  const whole = { ...history.facts, inputCharacters: facts.inputCharacters + history.characters };
  // A background response is generated as a stream, and so is each round of a loop.
  const isStream = isLoop || path.pathFraming !== undefined || facts.stream || wire.body['background'] === true;
  const chat = { wire, dialect, facts: whole, input, isLoop, isStream, keptAt: history.keptAt };
  return {
    dialect: dialect.id,
    requestedModel: facts.requestedModel,
    targets: fitTargets(targets, (each) => quoteAt(target, chat, each), target.explained?.onLeftOut),
    ...(typeof wire.body['service_tier'] === 'string' ? { serviceTier: wire.body['service_tier'] } : {}),
    ...(isLoop ? boundLoop(settings, facts, wire.body['max_tool_calls']) : { roundsMax: 1 }),
  };
}

/** The most rounds of a loop, one more if its reply may have to be repaired, and the most uses of its tools. */
function boundLoop(
  { tools = defaultTools }: Pick<GatewaySettings, 'tools'>,
  { builtInTools = [], strictSchema }: CallFacts,
  callsMax: JsonValue | undefined,
): Pick<QuotedCall, 'roundsMax' | 'toolsMost'> {
  const rounds = builtInTools.length === 0 ? 1 : tools.roundsMax;
  const calls = typeof callsMax === 'number' ? Math.max(0, Math.min(callsMax, tools.runsMax)) : tools.runsMax;
  return { roundsMax: rounds + (strictSchema === true ? 1 : 0), toolsMost: boundToolCalls(builtInTools, calls) };
}

type ValidChat = {
  readonly wire: WireRequest;
  readonly dialect: ChatDialect;
  readonly facts: CallFacts;
  readonly input: InputMeasure;
  readonly isLoop: boolean;
  readonly isStream: boolean;
  readonly keptAt: string | undefined;
};

function quoteAt({ settings, caller, bytes }: QuoteTarget<ChatServices>, chat: ValidChat, target: Target): QuotedTarget {
  const isNative = target.upstream.dialects.includes(chat.dialect.id);
  const translated = isNative ? undefined : translate({ caller }, chat, target);
  const facts = isNative && !chat.isLoop ? chat.facts : factsAsSent(chat, target, translated?.request);
  const atFirst = initialOutputTokens(settings.credits ?? defaultCredits, chat.isStream, target);
  const held = chat.isStream && chat.facts.outputTokensMax === undefined ? chat.facts : facts;
  const quoted = {
    target,
    usage: boundUsage({ ...chat, facts }, undefined, target),
    firstRound: boundUsage({ ...chat, facts: held, isLoop: false }, atFirst, target),
  };
  if (isNative) return { ...quoted, notes: [], sent: bytes };
  return translated === undefined
    ? quoted
    : { ...quoted, notes: translated.notes, sent: Buffer.from(JSON.stringify(translated.request.body)) };
}

/**
 * The facts with the output limit that is sent. If that is unknown, a model with a reasoning budget may get any limit.
 */
function factsAsSent({ facts }: ValidChat, { upstream, upstreamModel }: Target, sent: SentRequest | undefined): CallFacts {
  if (sent !== undefined) return withSentBound(facts, sent);
  if (upstream.traitsOf(upstreamModel).reasoning !== 'budget') return facts;
  const { outputTokensMax: _requested, ...unbounded } = facts;
  return unbounded;
}

/**
 * @param outputTokensDefault the output that is first held for without a limit; undefined: all that the model can write
 */
function boundUsage({ facts, input, isLoop, keptAt }: ChatPathFacts, outputTokensDefault: number | undefined, target: Target): UsageBounds {
  const bounds = forecastUsage({ facts, input, outputTokensDefault }, target);
  // A history that only the upstream has, and results of tools in later rounds, may be as long as the model can read.
  return isLoop || keptAt !== undefined ? withWholeWindow(bounds, target) : bounds;
}

type ChatPathFacts = Pick<ValidChat, 'facts' | 'input' | 'isLoop' | 'keptAt'>;

/**
 * The request as a target would get it, from the request alone: media and proofs are not fetched. Undefined if that
 * says nothing: the request has media, or tools that the gateway runs.
 */
function translate(
  { caller }: Pick<QuoteTarget, 'caller'>,
  { wire, dialect, input, isLoop }: ValidChat,
  { upstream, upstreamModel }: Target,
): { readonly notes: readonly TranslationNote[]; readonly request: SentRequest } | undefined {
  if (isLoop || input.images + input.files > 0) return undefined;
  const upstreamDialect = upstreamDialects[upstream.dialects[0] ?? 'openai-chat'];
  const notes = createTranslationNotes(dialect.codec.fieldNames, caller.strictTranslation);
  const fit = { upstreamModel, traits: upstream.traitsOf(upstreamModel), proofOrigin: upstream.proofOrigin, notes };
  const { body } = upstreamDialect.codec.encodeRequest(dialect.codec.decodeRequest(wire), fit);
  return { notes: notes.list(), request: { dialect: upstreamDialect, body } };
}

/** The history of a chat: its stored items, or the upstream that stores them. */
type History = {
  readonly items: readonly JsonObject[];
  readonly characters: number;
  /** Without `continues` if the gateway has the whole history. */
  readonly facts: CallFacts;
  readonly keptAt?: string;
};

const idOf = (value: JsonValue | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
};

/**
 * Reads the history of a request without changing or locking anything.
 * @throws GatewayError with the same message for a missing object and for another user's
 */
async function readHistory({ gateway, caller, body }: QuoteTarget<ChatServices>, facts: CallFacts): Promise<History> {
  const items = await readStored({ gateway, caller, body }).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('responses_unavailable', 'the history of the request cannot be read at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  const { continues, ...plain } = facts;
  if (items !== undefined) return { items, characters: countTextCharacters(items), facts: plain };
  if (continues === undefined) return { items: [], characters: 0, facts };
  return { items: [], characters: 0, facts, keptAt: await gateway.replyOwners.check(continues, caller.userName) };
}

async function readStored({
  gateway,
  caller,
  body,
}: Pick<QuoteTarget<ChatServices>, 'gateway' | 'caller' | 'body'>): Promise<readonly JsonObject[] | undefined> {
  const { conversations } = gateway;
  const conversation = idOf(body['conversation']);
  if (conversation !== undefined) {
    const items = await conversations.readConversation(caller.userName, conversation);
    if (items === undefined) throw notFound('Conversation', conversation);
    return items;
  }
  const previous = idOf(body['previous_response_id']);
  return previous === undefined ? undefined : await conversations.readChain(caller.userName, previous);
}
