import type { GatewaySettings } from '../../../attempts/services.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { DialectId, Operation } from '../../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { UsageBounds } from '../../../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { type InputMeasure, measureInput } from '../../../../inference/measure-input.ts';
import { createTranslationNotes, type TranslationNote } from '../../../../inference/translation-notes.ts';
import type { JsonValue } from '../../../../platform/json/json-value.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import { forecastUsage, outputTokensAtFirst, withWholeWindow } from '../../../attempts/books/bound-call.ts';
import { defaultCredits } from '../../../settings/credit-settings.ts';
import { type SentRequest, withSentBound } from '../../../attempts/books/sent-bound.ts';
import { mayCall } from '../../../admission/check-caller.ts';
import { alwaysHealthy } from '../../../attempts/routing/always-healthy.ts';
import { rankTargets, unknownModel } from '../../../attempts/routing/rank-targets.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { boundToolCalls } from '../tool-loop/bound-tools.ts';
import { needsToolLoop } from '../tool-loop/run-tool-loop.ts';
import { defaultTools } from '../../../settings/tool-settings.ts';
import { fitTargets } from '../../shared/quoting/fit-targets.ts';
import type { Asked, QuotedCall, QuotedTarget } from '../../shared/quoting/quoted-call.ts';
import type { ChatServices } from '../chat-services.ts';
import { orderPictures } from '../order-pictures.ts';
import { readHistory } from './read-history.ts';

/** Where a chat is asked for. */
export type QuotedPath = {
  readonly dialect: DialectId;
  readonly operation: Exclude<Operation, 'count-tokens'>;
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
};

/**
 * Reads a chat as a call of it would be read, up to where it would be sent.
 * @throws GatewayError as such a call would, for what is wrong with the request
 */
export async function quoteChat(asked: Asked<ChatServices>, path: QuotedPath): Promise<QuotedCall> {
  const { gateway, settings, caller, headers } = asked;
  const dialect = chatDialects[path.dialect];
  const { callback_url: _told, ...body } = asked.body;
  const wire: WireRequest = { headers, ...path, body: path.dialect === 'openai-responses' ? body : asked.body };
  dialect.validateRequest(wire, settings.validation);
  const order = orderPictures({ callId: '', dialect, routing: settings.routing, caller, request: wire });
  if (order !== undefined && gateway.pictureMaker !== undefined) return gateway.pictureMaker.quote(asked, order);
  const facts = dialect.readFacts(wire);
  if (!mayCall(caller, facts.requestedModel)) throw unknownModel(facts.requestedModel, settings.routing, (model) => mayCall(caller, model));
  const history = await readHistory(asked, facts);
  const targets = rankTargets({
    table: settings.routing,
    dialect,
    facts: history.facts,
    request: wire,
    caller,
    kind: 'chat',
    ...(history.keptAt === undefined ? {} : { keptAt: history.keptAt }),
    health: alwaysHealthy,
    nowMs: gateway.clock.monotonicMs(),
    random: () => 0,
  });
  const isLoop = needsToolLoop(gateway, { dialect, facts, settings, targets });
  const input = measureInput([wire.body, history.items]);
  const whole = { ...history.facts, inputCharacters: facts.inputCharacters + history.characters };
  // What is generated in the background comes as a stream, and so does each round of a loop.
  const isStream = isLoop || path.pathFraming !== undefined || facts.stream || wire.body['background'] === true;
  const chat = { wire, dialect, facts: whole, input, isLoop, isStream, keptAt: history.keptAt };
  return {
    dialect: dialect.id,
    requestedModel: facts.requestedModel,
    targets: fitTargets(targets, (target) => quoteTarget(asked, chat, target)),
    ...(typeof wire.body['service_tier'] === 'string' ? { serviceTier: wire.body['service_tier'] } : {}),
    ...(isLoop ? boundLoop(settings, facts, wire.body['max_tool_calls']) : { roundsMax: 1 }),
  };
}

/** How often the model of a loop is asked at most, once more where its reply has to be repaired, and what its tools do. */
function boundLoop(
  { tools = defaultTools }: Pick<GatewaySettings, 'tools'>,
  { builtInTools = [], strictSchema }: CallFacts,
  callsMax: JsonValue | undefined,
): Pick<QuotedCall, 'roundsMax' | 'toolsMost'> {
  const rounds = builtInTools.length === 0 ? 1 : tools.roundsMax;
  const calls = typeof callsMax === 'number' ? Math.max(0, Math.min(callsMax, tools.runsMax)) : tools.runsMax;
  return { roundsMax: rounds + (strictSchema === true ? 1 : 0), toolsMost: boundToolCalls(builtInTools, calls) };
}

type ReadChat = {
  readonly wire: WireRequest;
  readonly dialect: ChatDialect;
  readonly facts: CallFacts;
  readonly input: InputMeasure;
  readonly isLoop: boolean;
  readonly isStream: boolean;
  readonly keptAt: string | undefined;
};

function quoteTarget(asked: Asked<ChatServices>, chat: ReadChat, target: Target): QuotedTarget {
  const isSpoken = target.upstream.dialects.includes(chat.dialect.id);
  const translated = isSpoken ? undefined : translate(asked, chat, target);
  const facts = isSpoken && !chat.isLoop ? chat.facts : factsAsSent(chat, target, translated?.request);
  const atFirst = outputTokensAtFirst(asked.settings.credits ?? defaultCredits, chat.isStream, target);
  const held = chat.isStream && chat.facts.outputTokensMax === undefined ? chat.facts : facts;
  const quoted = {
    target,
    usage: boundUsage({ ...chat, facts }, undefined, target),
    firstRound: boundUsage({ ...chat, facts: held, isLoop: false }, atFirst, target),
  };
  if (isSpoken) return { ...quoted, notes: [], sent: asked.bytes };
  return translated === undefined
    ? quoted
    : { ...quoted, notes: translated.notes, sent: Buffer.from(JSON.stringify(translated.request.body)) };
}

/** With the bound of output that is sent. Where that is not known, a model that thinks within a budget may be sent any that it takes. */
function factsAsSent({ facts }: ReadChat, { upstream, upstreamModel }: Target, sent: SentRequest | undefined): CallFacts {
  if (sent !== undefined) return withSentBound(facts, sent);
  if (upstream.traitsOf(upstreamModel).reasoning !== 'budget') return facts;
  const { outputTokensMax: _asked, ...unbounded } = facts;
  return unbounded;
}

/** @param outputTokensDefault what is held for at first where there is no bound; undefined: all that its model can write */
function boundUsage({ facts, input, isLoop, keptAt }: ChatPathFacts, outputTokensDefault: number | undefined, target: Target): UsageBounds {
  const bounds = forecastUsage({ facts, input, outputTokensDefault }, target);
  // What only the upstream keeps, and what tools bring in later rounds, may be as long as the model can read.
  return isLoop || keptAt !== undefined ? withWholeWindow(bounds, target) : bounds;
}

type ChatPathFacts = Pick<ReadChat, 'facts' | 'input' | 'isLoop' | 'keptAt'>;

/**
 * The request as a target would be told it, from the request alone: media and proofs are not fetched. Undefined where that tells nothing: the request names media, or offers tools that
 * the gateway runs.
 */
function translate(
  { caller }: Asked,
  { wire, dialect, input, isLoop }: ReadChat,
  { upstream, upstreamModel }: Target,
): { readonly notes: readonly TranslationNote[]; readonly request: SentRequest } | undefined {
  if (isLoop || input.images + input.files > 0) return undefined;
  const spoken = chatDialects[upstream.dialects[0] ?? 'openai-chat'];
  const notes = createTranslationNotes(dialect.codec.fieldNames, caller.strictTranslation);
  const fit = { upstreamModel, traits: upstream.traitsOf(upstreamModel), proofOrigin: upstream.proofOrigin, notes };
  const { body } = spoken.codec.encodeRequest(dialect.codec.decodeRequest(wire), fit);
  return { notes: notes.list(), request: { dialect: spoken, body } };
}
