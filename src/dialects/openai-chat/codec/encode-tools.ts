import type { FunctionTool, InferenceRequest, ToolChoice, WebSearchTool } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { functionChoice } from './decode-tools.ts';
import type { MessageFit } from './encode-messages.ts';
import { member } from './member.ts';

/** Functions that may be called, and the choice among them. */
type Selection = { readonly tools: readonly FunctionTool[]; readonly choice: ToolChoice | undefined };

/**
 * A subset is expressed by omitting the other functions, because servers that imitate the vendor do not support its
 * field for it.
 */
function selectTools(request: InferenceRequest, notes: TranslationNotes): Selection {
  const functions = request.tools.filter((tool): tool is FunctionTool => tool.kind === 'function');
  const { toolChoice } = request;
  if (toolChoice?.kind !== 'allowed') return { tools: functions, choice: toolChoice };
  const allowed = functions.filter((tool) => toolChoice.names.includes(tool.name));
  if (allowed.length < functions.length) notes.adapted('toolChoice', 'functions that may not be called were omitted');
  return { tools: allowed, choice: { kind: toolChoice.required ? 'required' : 'auto' } };
}

function encodeFunction(tool: FunctionTool, { toWireName }: MessageFit): JsonObject {
  const { name, description, parameters, strict } = tool;
  // The templates of many models read both members without checking that they exist.
  const schema =
    parameters === undefined
      ? { type: 'object', properties: {} }
      : { ...(parameters.type === undefined && { type: 'object' }), ...parameters };
  return {
    type: 'function',
    function: {
      name: toWireName(name),
      ...member('description', description),
      parameters: schema,
      ...member('strict', strict),
    },
  };
}

function encodeChoice(choice: ToolChoice | undefined, { traits, notes, toWireName }: MessageFit): JsonObject {
  if (choice === undefined || choice.kind === 'allowed') return {};
  if (choice.kind === 'auto' || choice.kind === 'none') return { tool_choice: choice.kind };
  if (choice.kind !== 'function' && choice.kind !== 'required') {
    notes.dropped('toolChoice', 'this interface can only require the call of a function');
    return {};
  }
  if (!traits.chat.forcedToolChoice) {
    notes.dropped('toolChoice', 'the upstream of this model cannot be required to call a function');
    return {};
  }
  return { tool_choice: choice.kind === 'function' ? functionChoice(toWireName(choice.name)) : 'required' };
}

function encodeParallel({ parallelToolCalls }: InferenceRequest, { traits, notes }: MessageFit): JsonObject {
  if (parallelToolCalls === undefined) return {};
  if (traits.chat.parallelToolCallsField) return { parallel_tool_calls: parallelToolCalls };
  if (!parallelToolCalls)
    notes.emulated(
      'parallelToolCalls',
      'the upstream has no switch for it: the gateway passes on only the first of several calls in a reply',
    );
  return {};
}

function encodeWebSearch(tool: WebSearchTool, { traits, notes }: MessageFit): JsonObject {
  const field = { path: tool.path, otherwise: 'tools' } as const;
  // Agents offer it with every call, and an offer is not a requirement.
  if (!traits.webSearch) {
    notes.dropped(field, 'the upstream of this model cannot search the web');
    return {};
  }
  if (tool.maxUses !== undefined) notes.dropped(field, 'the upstream of this model cannot limit the number of searches');
  if (tool.allowedDomains !== undefined || tool.blockedDomains !== undefined) {
    notes.dropped(field, 'the upstream of this model cannot limit the search to domains');
  }
  const location = tool.userLocation;
  return {
    web_search_options: {
      ...member('search_context_size', tool.contextSize),
      ...(location === undefined ? {} : { user_location: { type: 'approximate', approximate: { ...location } } }),
    },
  };
}

/**
 * Tools of this dialect's own servers, if the request was read from it. Custom tools are not among them, because their
 * calls have no neutral form and a reply would lose them. Custom tools and tools of other vendors are refused. Tools
 * that agents offer with every call are omitted.
 */
function encodeVendorTools(request: InferenceRequest, { notes, isOwn }: MessageFit): readonly JsonObject[] {
  return request.tools.flatMap((tool): readonly JsonObject[] => {
    const field = { path: tool.path, otherwise: 'tools' } as const;
    if (tool.kind === 'code-execution') notes.dropped(field, 'the upstream of this model cannot run code');
    if (tool.kind === 'url-context') notes.dropped(field, 'the upstream of this model cannot read pages');
    if (tool.kind === 'file-search') notes.dropped(field, 'the upstream of this model cannot search the files of this gateway');
    if (tool.kind === 'image-generation') notes.dropped(field, 'the upstream of this model cannot make images');
    if (tool.kind !== 'vendor') return [];
    if (isOwn && tool.name !== 'custom') return [tool.wire];
    return notes.refuse(field, `the upstream of this model has no ${tool.name}; define it as a function instead`);
  });
}

/** Writes the tools and the members of the body that control their use. */
export function encodeTools(request: InferenceRequest, fit: MessageFit): JsonObject {
  const hosted = encodeVendorTools(request, fit);
  const { tools, choice } = selectTools(request, fit.notes);
  const search = request.tools.find((tool) => tool.kind === 'web-search');
  return {
    // The vendor refuses a choice, and an empty list, without functions.
    ...(tools.length + hosted.length === 0
      ? {}
      : {
          tools: [...tools.map((tool) => encodeFunction(tool, fit)), ...hosted],
          ...encodeChoice(choice, fit),
          ...encodeParallel(request, fit),
        }),
    ...(search === undefined ? {} : encodeWebSearch(search, fit)),
  };
}
