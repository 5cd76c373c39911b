import type { PreparedCall } from '../incoming-call.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import { estimateTokens } from '../../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { ImageInput } from '../../../../inference/image.ts';
import type { BuiltInTool, BuiltInToolKind, InferenceRequest } from '../../../../inference/inference-request.ts';
import { createTranslationNotes, type TranslationNote } from '../../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readAhead } from '../../../../platform/json/lazy-object.ts';
import type { GatewayTool, ToolOwner, ToolFactories } from '../../../../tools/gateway-tool.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { GatewaySettings } from '../../../attempts/services.ts';
import type { ChatServices } from '../chat-services.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { fitBody } from '../plan/fit-request.ts';
import { briefModel, closeTools, isBuiltIn, nameTools } from './offer-tools.ts';
import { chooseReplyCheck, createSchemaCheck } from './check-reply.ts';
import { gatherAddresses } from './gather-addresses.ts';
import { deliver } from '../reply-form.ts';
import type { LoopCall } from './loop-call.ts';
import { LoopReply } from './loop-reply.ts';
import { replayTools } from './replay-tools.ts';
import { ToolLoop } from './tool-loop.ts';
import { chooseGatewayTools } from './choose-tool-strategy.ts';
import { defaultTools } from '../../../settings/call-settings.ts';

/** The requests of a call with built-in tools that the gateway runs. */
export type ToolLoopOptions = {
  /** The request with the whole conversation, including the parts that are stored elsewhere. */
  readonly request: WireRequest;
  /** The request as the client sent it. Replies repeat it. */
  readonly original: WireRequest;
};

/** The facts that decide who runs the tools of a call. */
type StrategyCall = {
  readonly dialect: ChatDialect;
  readonly facts: CallFacts;
  readonly settings: Pick<GatewaySettings, 'routing' | 'tools' | 'replyCheck'>;
  readonly targets: readonly Target[];
};

/**
 * Whether the gateway must run built-in tools of a call, or check its reply before the client sees it. Other calls cost
 * two comparisons.
 * @throws GatewayError `tool_unavailable` for a tool that neither the vendor nor the gateway may run
 */
export function needsToolLoop(gateway: Pick<ChatServices, 'tools'>, call: StrategyCall): boolean {
  const runsTools = call.facts.builtInTools !== undefined && listGatewayTools(gateway, call).length > 0;
  return runsTools || findReplyCheck(call) !== undefined;
}

/** The built-in tools of a call that the gateway runs. */
function listGatewayTools(
  { tools }: Pick<ChatServices, 'tools'>,
  { dialect, facts, settings, targets }: StrategyCall,
): readonly BuiltInToolKind[] {
  const { builtInTools: kinds = [], requestedModel } = facts;
  const modes = settings.routing.routeOf(requestedModel)?.toolModes ?? {};
  const runs = kinds.filter((kind) => tools?.[kind] !== undefined);
  return chooseGatewayTools({ kinds, dialect: dialect.id, targets, modes, defaults: settings.tools?.modes ?? {}, runs });
}

/**
 * Answers a call with built-in tools that the gateway runs. Resolves when the first request was sent; the loop ends the
 * call by itself.
 * @returns false if the gateway can run none of the tools and none is required: nothing was done then
 * @throws GatewayError if the request cannot be answered; nothing was spent then
 */
export async function runToolLoop(gateway: ChatServices, prepared: PreparedCall, options: ToolLoopOptions): Promise<boolean> {
  const { call, caller } = prepared;
  await readAhead(options.request.body);
  const { request, notes } = await fitToWindow(prepared, options.request);
  const decoded = call.dialect.codec.decodeRequest(request);
  const owner = { userName: caller.userName, keyId: caller.id, callId: call.callId, caller };
  const kinds = listGatewayTools(gateway, { ...prepared, dialect: call.dialect });
  const run = { ...decoded, tools: decoded.tools.filter((tool) => isBuiltIn(tool) && kinds.includes(tool.kind)) };
  const tools = await makeTools(run, gateway.tools ?? {}, owner, (kind) => isRequired(decoded, kind, prepared));
  const check = createSchemaCheck(decoded, findReplyCheck({ ...prepared, dialect: call.dialect }), {
    targets: prepared.targets,
    field: call.dialect.codec.fieldNames.outputFormat ?? 'outputFormat',
    checker: gateway.schemaChecker,
    tenant: caller.userName,
  });
  if (tools.length === 0 && check === undefined) return false;
  const offered = nameTools(tools, decoded);
  const settings = prepared.settings.tools ?? defaultTools;
  const loop = new ToolLoop(gateway, {
    prepared,
    request: briefModel(replayTools(decoded, offered), offered),
    offered,
    settings,
    runsMax: Math.min(settings.runsMax, readRunsMax(decoded)),
    ...createReply(gateway, prepared, options, notes),
    check,
    knowsAddress: gatherAddresses(decoded),
    images: tools.some(({ kind }) => kind === 'image-generation') ? gatherImages(decoded) : [],
    newToolId: (tool) => gateway.newId(call.dialect.codec.toolIdPrefixes[tool]),
  });
  try {
    await loop.start();
  } catch (error) {
    closeTools(offered);
    throw error;
  }
  return true;
}

/** Fits the conversation to the first target. Dropped items are dropped for all rounds. */
async function fitToWindow(
  { call, facts, targets }: PreparedCall,
  request: WireRequest,
): Promise<{ readonly request: WireRequest; readonly notes: readonly TranslationNote[] }> {
  const [target] = targets;
  const contextTokensMax = target?.upstream.traitsOf(target.upstreamModel).contextTokensMax;
  if (contextTokensMax === undefined) return { request, notes: [] };
  const { outputTokensMax } = facts;
  const fitted = await fitBody(call, request.body, {
    contextTokensMax,
    ...(outputTokensMax === undefined ? {} : { outputTokensMax }),
    refusesEstimate: target?.upstream.setsContext === true,
  });
  if (fitted.truncated === undefined) return { request, notes: [] };
  return { request: { ...request, body: fitted.body }, notes: [{ kind: 'adapted', field: 'input', reason: fitted.truncated }] };
}

/** The mode of the reply check: the model's own setting, or the one for all models. */
function findReplyCheck({ dialect, facts, settings, targets }: StrategyCall): ReturnType<typeof chooseReplyCheck> {
  if (facts.strictSchema !== true) return undefined;
  const mode = settings.routing.routeOf(facts.requestedModel)?.replyCheck ?? settings.replyCheck ?? 'auto';
  return chooseReplyCheck(facts, dialect.id, targets, mode);
}

/**
 * Whether a missing tool must be refused with an error. Agent programs offer the vendors' tools beside their own
 * functions with every request, without needing them: there a missing tool is dropped with a note. It is required if it
 * is the only kind of tool, if the client demands it, or if the operator configured it.
 */
function isRequired({ tools, toolChoice }: InferenceRequest, kind: BuiltInToolKind, { settings, facts }: PreparedCall): boolean {
  const modes = settings.routing.routeOf(facts.requestedModel)?.toolModes ?? {};
  const mode = modes[kind] ?? settings.tools?.modes?.[kind] ?? 'auto';
  const isDemanded = toolChoice?.kind === 'built-in' && toolChoice.tool === kind;
  return mode !== 'auto' || isDemanded || !tools.some((tool) => tool.kind === 'function');
}

/**
 * Makes one tool for each kind; of a kind that is offered twice, the first. A missing tool that is not required is
 * dropped.
 */
async function makeTools(
  request: InferenceRequest,
  factories: Partial<ToolFactories>,
  owner: ToolOwner,
  isRequired: (kind: BuiltInToolKind) => boolean,
): Promise<readonly GatewayTool[]> {
  const kinds = new Map<BuiltInTool['kind'], BuiltInTool>();
  for (const tool of request.tools) if (isBuiltIn(tool) && !kinds.has(tool.kind)) kinds.set(tool.kind, tool);
  const created = await Promise.all(
    [...kinds.values()].map(async (tool) => {
      try {
        return await makeTool(tool, factories, owner);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'tool_unavailable' && !isRequired(tool.kind)) return [];
        throw error;
      }
    }),
  );
  return created.flat();
}

async function makeTool(tool: BuiltInTool, factories: Partial<ToolFactories>, owner: ToolOwner): Promise<GatewayTool> {
  const created = makeOf(tool, factories, owner);
  if (created !== undefined) return await created;
  const param = tool.path ?? 'tools';
  throw new GatewayError('tool_unavailable', `${param}: this gateway does not offer ${tool.kind.replace('-', ' ')}`, { param });
}

function makeOf(tool: BuiltInTool, factories: Partial<ToolFactories>, owner: ToolOwner): GatewayTool | Promise<GatewayTool> | undefined {
  switch (tool.kind) {
    case 'web-search':
      return factories['web-search']?.(tool, owner);
    case 'code-execution':
      return factories['code-execution']?.(tool, owner);
    case 'file-search':
      return factories['file-search']?.(tool, owner);
    case 'url-context':
      return factories['url-context']?.(tool, owner);
    case 'image-generation':
      return factories['image-generation']?.(tool, owner);
  }
}

/** The images of a conversation in order, without files that only a vendor stores. */
function gatherImages({ turns }: InferenceRequest): readonly ImageInput[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part): readonly ImageInput[] => {
      if (part.kind !== 'media' || part.media !== 'image') return [];
      const { source } = part;
      if (source.kind === 'inline') return [{ kind: 'inline', mediaType: source.mediaType, data: source.data }];
      return source.kind === 'url' ? [{ kind: 'url', url: source.url }] : [];
    }),
  );
}

/** The client's own limit of built-in calls in one reply, if its dialect has one. */
function readRunsMax({ vendorFields }: InferenceRequest): number {
  const value = vendorFields.find(({ field }) => field === 'max_tool_calls')?.value;
  if (value === undefined || value === null) return Infinity;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new GatewayError('invalid_value', 'max_tool_calls must be an integer of at least 0; got ${JSON.stringify(value).slice(0, 40)}', {
    param: 'max_tool_calls',
  });
}

function createReply(
  gateway: ChatServices,
  prepared: PreparedCall,
  { original }: ToolLoopOptions,
  notes: readonly TranslationNote[],
): Pick<LoopCall, 'reply' | 'sink'> {
  const { call, facts, framing, acceptedAtMs, turn, targets } = prepared;
  const [target] = targets;
  const keep = async (response: JsonObject): Promise<void> => {
    if (target !== undefined) await turn?.record(response, target, false);
  };
  const options = {
    dialect: call.dialect,
    framing,
    nowMs: () => gateway.clock.monotonicMs(),
    notes,
    ...(turn?.keeps === true ? { keep } : {}),
    writing: {
      requestId: call.callId,
      requestedModel: facts.requestedModel,
      request: original.body,
      ...(turn === undefined ? {} : { replyId: turn.replyId }),
      createdAtMs: acceptedAtMs,
      nowMs: () => gateway.clock.nowMs(),
      inputTokensEstimate: estimateTokens(facts.inputCharacters),
      newId: gateway.newId,
      notes: createTranslationNotes(call.dialect.codec.fieldNames, false),
    },
  };
  return deliver<Pick<LoopCall, 'reply' | 'sink'>>(call, framing, (form, sink) => ({
    reply: new LoopReply({ ...options, form, sink }),
    sink,
  }));
}
