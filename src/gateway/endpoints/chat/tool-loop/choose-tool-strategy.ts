import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { BuiltInToolKind } from '../../../../inference/inference-request.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ToolModes } from '../../../settings/call-settings.ts';

export type ToolStrategyOptions = {
  /** The kinds of tools that the request offers. */
  readonly kinds: readonly BuiltInToolKind[];
  readonly dialect: DialectId;
  /** All targets that may answer. */
  readonly targets: readonly Target[];
  /** The modes of the model, and the gateway's defaults. */
  readonly modes: ToolModes;
  readonly defaults: ToolModes;
  /** The kinds that the gateway can run. */
  readonly runs: readonly BuiltInToolKind[];
};

const titles: Readonly<Record<BuiltInToolKind, string>> = {
  'web-search': 'web search',
  'code-execution': 'code execution',
  'file-search': 'file search',
  'url-context': 'reading of pages',
  'image-generation': 'image generation',
};

/** The side that runs a tool for a model; undefined if neither may. */
export function findToolRunner(kind: BuiltInToolKind, options: Omit<ToolStrategyOptions, 'kinds'>): 'vendor' | 'gateway' | undefined {
  try {
    return chooseGatewayTools({ ...options, kinds: [kind] }).length === 0 ? 'vendor' : 'gateway';
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'tool_unavailable') return undefined;
    throw error;
  }
}

function refuse(kind: BuiltInToolKind, reason: string): never {
  throw new GatewayError('tool_unavailable', `tools: ${titles[kind]} is not available for this model: ${reason}`, { param: 'tools' });
}

/**
 * Whether the vendor of a target runs a tool for the model. Files are in stores of one vendor, so only a call that
 * passes through can name them.
 */
function runsNatively({ upstream, upstreamModel }: Target, kind: BuiltInToolKind, dialect: DialectId): boolean {
  const traits = upstream.traitsOf(upstreamModel);
  switch (kind) {
    case 'web-search':
      return traits.webSearch;
    case 'code-execution':
      return traits.codeExecution;
    case 'url-context':
      return traits.urlContext === true;
    case 'image-generation':
      return traits.imageGeneration === true && upstream.dialects.includes(dialect);
    case 'file-search':
      return upstream.vendor.keepsResponses === true && upstream.dialects.includes(dialect);
  }
}

/**
 * Chooses the built-in tools of a call that the gateway runs in its loop; none if the vendor runs them all in one
 * exchange. The vendor keeps the tools that it can run in the loop too, so that one missing tool does not disable the
 * others.
 * @throws GatewayError `tool_unavailable` for a tool that neither the vendor nor the gateway may run
 */
export function chooseGatewayTools({ kinds, dialect, targets, modes, defaults, runs }: ToolStrategyOptions): readonly BuiltInToolKind[] {
  return kinds.filter((kind) => {
    const mode = modes[kind] ?? defaults[kind] ?? 'auto';
    if (mode === 'off') return refuse(kind, 'it is switched off');
    const running = targets.filter((target) => runsNatively(target, kind, dialect));
    const native = targets.length > 0 && running.length === targets.length;
    if (mode === 'native') return native ? false : refuse(kind, 'its service does not offer it');
    // If the gateway stores files, the stores that requests name are its own, unless the operator says otherwise.
    if (mode === 'auto' && native && !(kind === 'file-search' && runs.includes(kind))) return false;
    if (runs.includes(kind)) return true;
    // One of several services that runs it is better than none. The others drop it with a note.
    if (mode === 'auto' && running.length > 0) return false;
    return refuse(kind, 'neither its service nor this gateway offers it');
  });
}
