import { hasCompaction } from '../../../dialects/openai-responses/compaction.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { writeJson } from '../../../platform/json/write-json.ts';
import { WorkSlices, largeBodyBytes } from '../../../platform/yield-queue.ts';
import { alwaysHealthy } from '../../attempts/health/health.ts';
import { type RankedCall, rankTargets, requireReach } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ChatServices } from './chat-services.ts';
import { openSummaries } from './compaction-summaries.ts';
import type { AdmittedChat, ReadChat } from './admit-chat.ts';
import { type InlineFiles, createInlineFiles, mayNameFiles } from './inline-files.ts';
import { openTurn } from './responses/open-turn.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import type { ResponseKeeper } from '../../../conversations/response-store.ts';

/** A call that can be routed. */
export type ReadCall = AdmittedChat & Omit<ReadChat, 'callbackUrl'>;

/** The targets of a call, and the turn that it continues. */
type ChosenTargets = { readonly turn: ResponseTurn | undefined; readonly facts: CallFacts; readonly targets: readonly Target[] };

/** The same with the request that is sent: with files in place of their ids. */
export type RoutedCall = ChosenTargets & { readonly sent: Pick<ReadCall, 'request' | 'bytes'> };

/** Routes a call: at once, unless files or stored responses must be looked up first. */
export function routeChat(gateway: ChatServices, read: ReadCall, report: CallReport): RoutedCall | Promise<RoutedCall> {
  const { call, settings, caller, request } = read;
  const facts = call.dialect.readFacts(request);
  report.facts = facts;
  requireReach(caller, settings.routing, facts.requestedModel);
  const hasSummaries = call.dialect.id === 'openai-responses' && hasCompaction(request.body);
  const route = (namesFiles: boolean): RoutedCall | Promise<RoutedCall> =>
    namesFiles || hasSummaries ? routeWithFiles(gateway, { ...read, facts }, report) : routeFilled(gateway, { ...read, facts }, request);
  const looking = call.dialect.surveyRequest(request.body)?.mayHave('file') ?? mayNameFiles(read.bytes);
  return looking instanceof Promise ? looking.then(route) : route(looking);
}

/** A call with its facts. */
type FilledCall = ReadCall & { readonly facts: CallFacts };

/**
 * The function that replaces references to stored things, in the request and in the history that it continues: files
 * under their ids, and summaries of conversations that were sealed here.
 */
function createFill(gateway: ChatServices, { call, settings, caller, admission, received }: ReadCall): InlineFiles {
  const { userName } = caller;
  const inlineFiles = createInlineFiles({
    files: gateway.files,
    clock: gateway.clock,
    userName,
    dialect: call.dialect.id,
    bytesMax: settings.limits.requestBytesMax,
    // Whether the process has room for this many bytes more than the client sent.
    mayHold: (more) => admission.holdBytes(received.bytes.length + more),
  });
  return async (body, param) => openSummaries(await inlineFiles(body, param), { sealer: gateway.summaries, userName, param });
}

async function routeWithFiles(gateway: ChatServices, read: FilledCall, report: CallReport): Promise<RoutedCall> {
  const slices = new WorkSlices();
  if (read.bytes.length > largeBodyBytes) await slices.yield();
  const inlineFiles = createFill(gateway, read);
  const body = await inlineFiles(read.request.body);
  if (body === read.request.body) return routeFilled(gateway, read, read.request, inlineFiles);
  // Only now it may have become large.
  await slices.yield();
  const request = { ...read.request, body };
  const facts = read.call.dialect.readFacts(request);
  report.facts = facts;
  const bytes = await writeJson(body);
  return routeFilled(gateway, { ...read, request, bytes, facts }, read.request, inlineFiles);
}

/**
 * @param original the request as the client wrote it, which is the one that is stored
 * @param inlineFiles the function that has filled the request, if one has
 */
function routeFilled(
  gateway: ChatServices,
  read: FilledCall,
  original: WireRequest,
  inlineFiles?: InlineFiles,
): RoutedCall | Promise<RoutedCall> {
  const { call, settings, request, bytes, facts } = read;
  const route = settings.routing.routeOf(facts.requestedModel);
  const chosen = ((): ChosenTargets | Promise<ChosenTargets> => {
    if (call.dialect.id !== 'openai-responses') return chooseTargets(gateway, read, { request, facts, turn: undefined });
    const opening = openTurn({
      ...read,
      original,
      inlineFiles: inlineFiles ?? createFill(gateway, read),
      gateway,
      state: route?.responseState ?? 'auto',
      targets: route?.targets ?? [],
    });
    if (opening !== undefined) return routeTurn(gateway, read, opening);
    if (read.isBackground) throw neverStored();
    return chooseTargets(gateway, read, { request, facts, turn: undefined });
  })();
  const sent = { request, bytes };
  return chosen instanceof Promise ? chosen.then((targets) => ({ ...targets, sent })) : { ...chosen, sent };
}

async function routeTurn(gateway: ChatServices, read: ReadCall, opening: Promise<ResponseTurn>): Promise<ChosenTargets> {
  const turn = await opening;
  // A background response outlives its client.
  if (!read.isBackground) {
    const { response } = read.call;
    response.on('close', turn.close);
    // If the client disconnected while the turn was opened, no further event comes, and its conversation would stay
    // locked.
    if (response.destroyed) turn.close();
  }
  try {
    if (read.isBackground && !turn.isStored) throw neverStored();
    return await chooseTargets(gateway, read, turn);
  } catch (error) {
    turn.close();
    throw error;
  }
}

function neverStored(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'background must not be true: responses to this key are never stored, and background responses must be',
    {
      param: 'background',
    },
  );
}

/**
 * The targets of a call, best first. A target that stores the response that the call continues comes before all others.
 */
function chooseTargets(
  gateway: ChatServices,
  { call: { dialect, operation }, settings, caller }: ReadCall,
  source: ResponseTurn | { readonly request: WireRequest; readonly facts: CallFacts; readonly turn: undefined },
): ChosenTargets | Promise<ChosenTargets> {
  const { clock, random, replyOwners } = gateway;
  const { request, facts } = source;
  const turn = 'turn' in source ? undefined : source;
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  // Counting is free, and some vendors count for other kinds of models too.
  const kind = operation === 'count-tokens' ? undefined : 'chat';
  const call = { table: settings.routing, dialect, request, caller, kind, health, nowMs: clock.monotonicMs(), random } as const;
  if (turn?.keeper !== undefined) return { turn, facts, targets: rankKeeperFirst(call, facts, turn.keeper) };
  if (facts.continues === undefined) return { turn, facts, targets: rankTargets({ ...call, facts }) };
  return replyOwners
    .check(facts.continues, caller.userName)
    .then((keptAt) => ({ turn, facts, targets: rankTargets({ ...call, facts, keptAt }) }));
}

/**
 * Ranks the targets of a call whose conversation one upstream stores: that one first while it works, then the others,
 * which get the whole conversation.
 * @throws GatewayError if no target can serve the call
 */
function rankKeeperFirst(
  call: Omit<RankedCall, 'facts' | 'keptAt'>,
  facts: CallFacts,
  { upstream, credential }: ResponseKeeper,
): readonly Target[] {
  const ranked = rankTargets({ ...call, facts });
  const isKeeper = (target: Target): boolean => target.upstream.id === upstream && target.upstream.credentialId === credential;
  const at = ranked.findIndex(isKeeper);
  if (at >= 0) return [...ranked.slice(at, at + 1), ...ranked.slice(0, at), ...ranked.slice(at + 1)];
  return ranked;
}
