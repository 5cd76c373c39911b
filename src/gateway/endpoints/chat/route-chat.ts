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
import type { ReadCall } from './admit-chat.ts';
import { type InlineFiles, createInlineFiles, mayNameFiles } from './inline-files.ts';
import { openTurn } from './responses/open-turn.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import type { ResponseKeeper } from '../../../conversations/response-store.ts';

/** A request as it is sent: with files in place of their ids. */
type FilledRequest = Pick<ReadCall, 'request' | 'bytes'> & {
  readonly facts: CallFacts;
  /** The function that has filled it. Absent if it is the client's. */
  readonly inlineFiles?: InlineFiles;
};

/** The targets of a call, the turn that it continues, and the request that is sent. */
export type RoutedCall = {
  readonly turn: ResponseTurn | undefined;
  readonly facts: CallFacts;
  readonly targets: readonly Target[];
  readonly sent: Pick<ReadCall, 'request' | 'bytes'>;
};

/** Routes a call: at once, unless files or stored responses must be looked up first. */
export function routeChat(gateway: ChatServices, read: ReadCall, report: CallReport): RoutedCall | Promise<RoutedCall> {
  const { call, settings, caller, request, bytes } = read;
  const facts = call.dialect.readFacts(request);
  report.facts = facts;
  requireReach(caller, settings.routing, facts.requestedModel);
  const hasSummaries = call.dialect.id === 'openai-responses' && hasCompaction(request.body);
  const looking = call.dialect.surveyRequest(request.body)?.mayHave('file') ?? mayNameFiles(bytes);
  if (looking === false && !hasSummaries) return routeFilled(gateway, read, { request, bytes, facts });
  return routeWithFiles(gateway, read, facts, { looking, hasSummaries, report });
}

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

async function routeWithFiles(
  gateway: ChatServices,
  read: ReadCall,
  facts: CallFacts,
  found: { readonly looking: boolean | Promise<boolean>; readonly hasSummaries: boolean; readonly report: CallReport },
): Promise<RoutedCall> {
  const { call, request, bytes } = read;
  const sent = { request, bytes, facts };
  if (!(await found.looking) && !found.hasSummaries) return routeFilled(gateway, read, sent);
  const slices = new WorkSlices();
  if (bytes.length > largeBodyBytes) await slices.yield();
  const inlineFiles = createFill(gateway, read);
  const body = await inlineFiles(request.body);
  if (body === request.body) return routeFilled(gateway, read, { ...sent, inlineFiles });
  // Only now it may have become large.
  await slices.yield();
  const filled = { ...request, body };
  const filledFacts = call.dialect.readFacts(filled);
  found.report.facts = filledFacts;
  return routeFilled(gateway, read, { request: filled, bytes: await writeJson(body), facts: filledFacts, inlineFiles });
}

/** @param sent has the request that is sent; `read` has that of the client, which is the one that is stored */
function routeFilled(gateway: ChatServices, read: ReadCall, sent: FilledRequest): RoutedCall | Promise<RoutedCall> {
  const opening = read.call.dialect.id === 'openai-responses' ? openFilled(gateway, read, sent) : undefined;
  if (opening !== undefined) return routeTurn(gateway, read, opening).then((routed) => ({ ...routed, sent }));
  if (read.isBackground) throw neverStored();
  const { facts } = sent;
  const targets = chooseTargets(gateway, read, sent, undefined);
  if (targets instanceof Promise) return targets.then((chosen) => ({ turn: undefined, facts, targets: chosen, sent }));
  return { turn: undefined, facts, targets, sent };
}

/** The turn of a call of the Responses interface, if it has one. */
function openFilled(
  gateway: ChatServices,
  read: ReadCall,
  { request, bytes, facts, inlineFiles }: FilledRequest,
): Promise<ResponseTurn> | undefined {
  const route = read.settings.routing.routeOf(facts.requestedModel);
  return openTurn({
    ...read,
    request,
    bytes,
    facts,
    original: read.request,
    inlineFiles: inlineFiles ?? createFill(gateway, read),
    gateway,
    state: route?.responseState ?? 'auto',
    targets: route?.targets ?? [],
  });
}

async function routeTurn(gateway: ChatServices, read: ReadCall, opening: Promise<ResponseTurn>): Promise<Omit<RoutedCall, 'sent'>> {
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
    return { turn, facts: turn.facts, targets: await chooseTargets(gateway, read, turn, turn.keeper) };
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
 * The targets of a call, best first. The keeper of the response that the call continues comes before all others. Waits
 * only for the store, if the call continues a reply.
 */
function chooseTargets(
  { clock, random, replyOwners, health: known }: ChatServices,
  { call: { dialect, operation }, settings, caller }: ReadCall,
  { request, facts }: { readonly request: WireRequest; readonly facts: CallFacts },
  keeper: ResponseKeeper | undefined,
): readonly Target[] | Promise<readonly Target[]> {
  const health = settings.retries.avoidFailing ? known : alwaysHealthy;
  // Counting is free, and some vendors count for other kinds of models too.
  const kind = operation === 'count-tokens' ? undefined : 'chat';
  const call: RankedCall = {
    table: settings.routing,
    dialect,
    request,
    facts,
    caller,
    kind,
    health,
    nowMs: clock.monotonicMs(),
    random,
  };
  if (keeper !== undefined) return rankKeeperFirst(call, keeper);
  if (facts.continues === undefined) return rankTargets(call);
  return replyOwners.check(facts.continues, caller.userName).then((keptAt) => rankTargets({ ...call, keptAt }));
}

/**
 * Ranks the targets of a call whose conversation one upstream stores: that one first while it works, then the others,
 * which get the whole conversation.
 * @throws GatewayError if no target can serve the call
 */
function rankKeeperFirst(call: RankedCall, { upstream, credential }: ResponseKeeper): readonly Target[] {
  const ranked = rankTargets(call);
  const isKeeper = (target: Target): boolean => target.upstream.id === upstream && target.upstream.credentialId === credential;
  const at = ranked.findIndex(isKeeper);
  if (at >= 0) return [...ranked.slice(at, at + 1), ...ranked.slice(0, at), ...ranked.slice(at + 1)];
  return ranked;
}
