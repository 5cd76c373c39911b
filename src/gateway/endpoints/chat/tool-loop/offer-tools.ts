import { chatDialects } from '../../../../dialects/registry.ts';
import {
  type BuiltInTool,
  type BuiltInToolKind,
  builtInToolKinds,
  type InferenceRequest,
  type Tool,
  type ToolChoice,
} from '../../../../inference/inference-request.ts';
import { listToolNames } from '../../../../inference/tool-names.ts';
import type { GatewayTool } from '../../../../tools/gateway-tool.ts';

/** The gateway's tools by the name under which the model is offered them. */
export type OfferedTools = ReadonlyMap<string, GatewayTool>;

export function isBuiltIn(tool: Tool): tool is BuiltInTool {
  return tool.kind !== 'function' && tool.kind !== 'vendor';
}

/** Gives each tool a name that none of the client's functions has, offered now or called before. */
export function nameTools(tools: readonly GatewayTool[], request: InferenceRequest): OfferedTools {
  const taken = new Set(listToolNames({ ...request, tools: request.tools.filter(({ kind }) => kind === 'function') }));
  const chosen = request.toolChoice?.kind === 'function' ? request.toolChoice.name : undefined;
  const functions = new Set(request.tools.flatMap((tool) => (tool.kind === 'function' ? [tool.name] : [])));
  // The name in the choice may be the built-in tool's own.
  if (chosen !== undefined && !functions.has(chosen)) taken.delete(chosen);
  const named = new Map<string, GatewayTool>();
  for (const tool of tools) {
    let name = tool.offer.name;
    for (let turn = 2; taken.has(name) || named.has(name); turn++) name = `${tool.offer.name}_${turn}`;
    named.set(name, tool);
  }
  return named;
}

/** Ends what the tools of a call hold for it. */
export function closeTools(offered: OfferedTools): void {
  for (const tool of offered.values()) tool.close?.();
}

/** What the dialects call the tools, where a choice names one. Dates at the end of a name are versions. */
const kindsByName: ReadonlyMap<string, BuiltInToolKind> = new Map(
  Object.values(chatDialects).flatMap(({ codec }) =>
    builtInToolKinds.flatMap((kind) => codec.toolNames[kind].map((name) => [name, kind] as const)),
  ),
);

function kindOf(name: string): BuiltInToolKind | undefined {
  return kindsByName.get(name.replace(/_\d{4}_\d{2}_\d{2}$|_\d{8}$/, ''));
}

/** The choice for the functions that stand in for built-in tools. */
function chooseTool(choice: ToolChoice | undefined, offered: OfferedTools, functions: ReadonlySet<string>): ToolChoice | undefined {
  const nameOf = (name: string): string => {
    if (functions.has(name)) return name;
    const kind = kindOf(name);
    for (const [own, tool] of offered) if (tool.kind === kind) return own;
    return name;
  };
  if (choice?.kind === 'built-in') {
    for (const [own, tool] of offered) if (tool.kind === choice.tool) return { kind: 'function', name: own };
    return choice;
  }
  if (choice?.kind === 'function') return { ...choice, name: nameOf(choice.name) };
  if (choice?.kind === 'allowed') return { ...choice, names: choice.names.map(nameOf) };
  return choice;
}

/** How a round offers the gateway's tools: as the client asked, as the model likes once it has been answered, or not at all. */
export type RoundOffer = 'as-asked' | 'freely' | 'withheld';

/**
 * The request of a round, with functions in the place of its built-in tools. Where they are withheld they are still described, because the
 * conversation holds calls of them, and may not be called.
 */
export function offerTools(request: InferenceRequest, offered: OfferedTools, offer: RoundOffer): InferenceRequest {
  const kinds = new Set([...offered.values()].map(({ kind }) => kind));
  // What the gateway cannot run stays as it is: the upstream's dialect says what becomes of it.
  const own = request.tools.filter((tool) => !isBuiltIn(tool) || !kinds.has(tool.kind));
  const functions = new Set(own.flatMap((tool) => (tool.kind === 'function' ? [tool.name] : [])));
  const standIns = [...offered].map(([name, tool]) => ({ ...tool.offer, name }));
  const { toolChoice: asked, ...rest } = request;
  const choice = choiceOf(asked, offer, offered, functions);
  return { ...rest, tools: [...own, ...standIns], ...(choice === undefined ? {} : { toolChoice: choice }) };
}

function choiceOf(
  asked: ToolChoice | undefined,
  offer: RoundOffer,
  offered: OfferedTools,
  functions: ReadonlySet<string>,
): ToolChoice | undefined {
  if (asked?.kind === 'none') return asked;
  if (offer === 'as-asked') return chooseTool(asked, offered, functions);
  const allowed = asked?.kind === 'allowed' ? asked.names.filter((name) => functions.has(name)) : [...functions];
  if (offer === 'withheld') return allowed.length === 0 ? { kind: 'none' } : { kind: 'allowed', names: allowed, required: false };
  // What was demanded has been done: the model may answer now.
  const chosen = chooseTool(asked, offered, functions);
  return chosen?.kind === 'allowed' ? { ...chosen, required: false } : chosen === undefined ? undefined : { kind: 'auto' };
}
