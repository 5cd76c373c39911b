import type {
  BuiltInToolKind,
  FunctionTool,
  InferenceRequest,
  Tool,
  ToolChoice,
  WebSearchTool,
} from '../../../inference/inference-request.ts';
import { noteForcedChoice } from '../../../inference/note-forced-choice.ts';
import type { OwnMembers } from '../../../inference/own-fields.ts';
import { screenToolName } from '../../../inference/screen-actions.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { builtInToolOf } from '../built-in-tools.ts';
import { encodeFileSearch } from './file-search-tool.ts';
import { encodeScreenTool, isScreenType } from './screen-tool.ts';

type EncodedTools = {
  readonly tools: readonly JsonObject[];
  /** Values of `include` that are needed so that the reply contains the findings of tools. */
  readonly include: readonly string[];
  readonly maxToolCalls?: number;
};

/** The vendor refuses parameters unless their schema is of the type object and has properties. */
export function fitParameters(parameters: JsonObject | undefined): JsonObject {
  return { type: 'object', properties: {}, ...parameters };
}

function encodeWebSearch(tool: WebSearchTool): JsonObject {
  const { allowedDomains, blockedDomains, userLocation, contextSize } = tool;
  const filters = {
    ...(allowedDomains === undefined ? {} : { allowed_domains: allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blocked_domains: blockedDomains }),
  };
  return {
    type: 'web_search',
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(userLocation === undefined ? {} : { user_location: { type: 'approximate', ...userLocation } }),
    ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
  };
}

type ToolWriting = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  /** Whether the request was read from this dialect: its own tools are written back unchanged. */
  readonly isOwn: boolean;
  /** Members of its functions that have no neutral name. */
  readonly own: OwnMembers;
};

function encodeFunction(tool: FunctionTool, { fit, toWireName, isOwn, own }: ToolWriting): JsonObject {
  if (tool.screen !== undefined && fit.traits.screenTool !== undefined) {
    return isOwn && tool.wire !== undefined ? tool.wire : encodeScreenTool(tool.screen);
  }
  if (isOwn && tool.wire !== undefined && tool.screen === undefined) return tool.wire;
  return {
    type: 'function',
    name: toWireName(tool.name),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: fitParameters(tool.parameters),
    // If it is absent, the vendor rewrites the schema so that every argument is required.
    ...(isOwn && tool.strict === undefined && tool.path !== undefined ? {} : { strict: tool.strict ?? false }),
    ...own.take(tool.path),
  };
}

function encodeTool(tool: Tool, writing: ToolWriting): JsonObject | undefined {
  const { fit } = writing;
  const place = { path: tool.path, otherwise: 'tools' } as const;
  switch (tool.kind) {
    case 'function':
      return encodeFunction(tool, writing);
    case 'web-search':
      if (fit.traits.webSearch)
        return writing.isOwn && tool.wire !== undefined && tool.wire.domains === undefined ? tool.wire : encodeWebSearch(tool);
      fit.notes.dropped(place, 'the upstream of this model cannot search the web');
      return undefined;
    case 'code-execution':
      if (fit.traits.codeExecution)
        return writing.isOwn && tool.wire !== undefined ? tool.wire : { type: 'code_interpreter', container: { type: 'auto' } };
      fit.notes.dropped(place, 'the upstream of this model cannot run code');
      return undefined;
    case 'file-search':
      if (fit.traits.fileSearch === true) return encodeFileSearch(tool);
      fit.notes.dropped(place, 'the upstream of this model cannot search files');
      return undefined;
    case 'image-generation':
      if (fit.traits.imageGeneration === true) return tool.wire;
      fit.notes.dropped(place, 'the upstream of this model cannot make images within a reply');
      return undefined;
    case 'url-context':
      fit.notes.dropped(place, `the upstream of this model has no tool '${tool.kind}'`);
      return undefined;
    case 'vendor':
      if (writing.isOwn) return tool.wire;
      return fit.notes.refuse(place, `the tool '${tool.name}' is known to one vendor only, and this model runs at another; leave it out`);
  }
}

/**
 * The number of web searches is limited by the number of all tool calls. This works only if the search is the only tool
 * that the vendor runs.
 */
function limitSearches(sent: readonly Tool[], fit: RequestFit): number | undefined {
  const hosted = sent.filter((tool) => tool.kind !== 'function');
  const search = hosted.find((tool) => tool.kind === 'web-search' && tool.maxUses !== undefined);
  if (search?.kind !== 'web-search') return undefined;
  if (hosted.length === 1) return search.maxUses;
  fit.notes.dropped(
    { path: search.path, otherwise: 'tools' },
    'the number of searches cannot be limited together with other tools of the vendor',
  );
  return undefined;
}

export function encodeTools(tools: readonly Tool[], writing: ToolWriting): EncodedTools {
  const { fit } = writing;
  const pairs = tools.flatMap((tool) => {
    const wire = encodeTool(tool, writing);
    return wire === undefined ? [] : [{ tool, wire }];
  });
  const sent = pairs.map(({ tool }) => tool);
  const maxToolCalls = limitSearches(sent, fit);
  return {
    tools: pairs.map(({ wire }) => wire),
    include: [
      ...(sent.some((tool) => tool.kind === 'web-search') ? ['web_search_call.action.sources'] : []),
      ...(sent.some((tool) => tool.kind === 'code-execution') ? ['code_interpreter_call.outputs'] : []),
      ...(sent.some((tool) => tool.kind === 'file-search') ? ['file_search_call.results'] : []),
    ],
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  };
}

/** Writes the choice of a tool. The vendor refuses one without tools. */
export function encodeToolChoice(
  choice: InferenceRequest['toolChoice'],
  sent: readonly JsonObject[],
  { toWireName, fit, isOwn }: Pick<ToolWriting, 'toWireName' | 'fit' | 'isOwn'>,
): JsonValue | undefined {
  if (choice === undefined || sent.length === 0) return undefined;
  if (choice.kind === 'built-in') return wordBuiltInChoice(choice.tool, sent, fit);
  const vendorTools = sent.flatMap(({ type = null }) => (builtInToolOf(textOf(type) ?? '') === undefined ? [] : [{ type }]));
  // A list of required tools contains only functions.
  noteForcedChoice(choice, choice.kind === 'required' && vendorTools.length > 0, fit.notes);
  // In other dialects a choice concerns only functions, and the vendor's tools stay available. Here a list excludes
  // them unless it names them.
  if (choice.kind !== 'function') return wordToolChoice(choice, toWireName, isOwn ? [] : vendorTools);
  // The vendor's screen tool is chosen by its type.
  const isScreen = choice.name === screenToolName ? sent.find((tool) => isScreenType(textOf(tool.type) ?? '')) : undefined;
  if (isScreen !== undefined) return { type: isScreen.type };
  const isCustom = sent.some((tool) => tool.type === 'custom' && tool.name === choice.name);
  return { type: isCustom ? 'custom' : 'function', name: toWireName(choice.name) };
}

function wordBuiltInChoice(kind: BuiltInToolKind, sent: readonly JsonObject[], { notes }: RequestFit): JsonValue {
  const chosen = sent.find((tool) => builtInToolOf(textOf(tool.type) ?? '') === kind);
  if (chosen !== undefined) return { type: chosen.type };
  notes.dropped('toolChoice', `the upstream of this model has no tool '${kind}'`);
  return 'auto';
}

function wordToolChoice(
  choice: Exclude<ToolChoice, { kind: 'built-in' | 'function' }>,
  toWireName: (name: string) => string,
  vendorTools: readonly JsonObject[],
): JsonValue {
  switch (choice.kind) {
    case 'auto':
    case 'required':
    case 'none':
      return choice.kind;
    case 'allowed': {
      if (choice.names.length === 0) return 'none';
      const tools = choice.names.map((name): JsonObject => ({ type: 'function', name: toWireName(name) }));
      if (choice.required) return { type: 'allowed_tools', mode: 'required', tools };
      return { type: 'allowed_tools', mode: 'auto', tools: [...tools, ...vendorTools] };
    }
  }
}
