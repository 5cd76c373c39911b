import type { ShownImage } from '../../../../inference/image.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ServerToolPart } from '../../../../inference/inference-request.ts';
import type { ToolCall, ToolReturn } from './run-tools.ts';

/** Receives an unfinished image of a call, by its place. */
type OnPartialImage = (at: number, number: number, image: ShownImage) => void;

type ShowTools = {
  readonly calls: readonly ToolCall[];
  /** Starts the tools; one result for each call, in order. */
  readonly run: (onPartialImage: OnPartialImage) => readonly Promise<ToolReturn>[];
  readonly newToolId: (tool: ServerToolPart['tool']) => string;
  readonly takeIndex: () => number;
  readonly push: (events: readonly InferenceEvent[]) => void;
  /** Called with each result before it is shown. */
  readonly returned: (result: ToolReturn) => void;
  readonly isOver: () => boolean;
};

/** Runs the tools of a turn, and shows each as a block in its place as soon as those before it are done. */
export async function showTools(options: ShowTools): Promise<readonly ToolReturn[]> {
  const { calls, push, isOver } = options;
  /** Unfinished images of calls whose block has not begun. */
  const waiting = calls.map((): { readonly number: number; readonly image: ShownImage }[] => []);
  let open: { readonly at: number; readonly index: number } | undefined;
  const running = options.run((at, number, image) => {
    if (isOver()) return;
    if (open?.at === at) push([{ type: 'partial-image', index: open.index, number, image }]);
    else waiting[at]?.push({ number, image });
  });
  const returns: ToolReturn[] = [];
  for (const [at, call] of calls.entries()) {
    const { kind } = call.tool;
    const block = { kind: 'server-tool', tool: kind, id: options.newToolId(kind), input: call.tool.readInput(call.arguments) } as const;
    const index = options.takeIndex();
    const partials = (waiting[at] ?? []).map((partial) => ({ type: 'partial-image', index, ...partial }) as const);
    push([{ type: 'block-started', index, block }, ...partials]);
    open = { at, index };
    const result = await running[at];
    open = undefined;
    if (result === undefined) throw new Error('a tool was not run');
    returns.push(result);
    options.returned(result);
    if (isOver()) continue;
    const part: ServerToolPart = { ...block, ...result.outcome.shown, wire: [] };
    push([
      { type: 'tool-outcome', index, part },
      { type: 'block-ended', index },
    ]);
  }
  return returns;
}
