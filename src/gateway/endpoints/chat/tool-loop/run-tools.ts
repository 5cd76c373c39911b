import type { ImageInput, ShownImage } from '../../../../inference/image.ts';
import type { ServerToolPart, ToolCallPart, ToolResultPart } from '../../../../inference/inference-request.ts';
import { toolMeterNames } from '../../../../inference/meters.ts';
import type { ToolUsage } from '../../../../inference/usage.ts';
import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/log.ts';
import type { GatewayTool, Source, ToolOutcome } from '../../../../tools/gateway-tool.ts';
import type { Telemetry } from '../../../telemetry/telemetry.ts';

/** One call of a gateway's tool by the model. */
export type ToolCall = { readonly call: ToolCallPart; readonly tool: GatewayTool; readonly arguments: JsonObject };

/** The result of a tool call, for the model and for the client. */
export type ToolReturn = { readonly outcome: ToolOutcome; readonly result: ToolResultPart };

export type RunTools = {
  readonly calls: readonly ToolCall[];
  /** The most of them that may run. The others get the answer that the limit is reached. */
  readonly runsMax: number;
  readonly firstSource: number;
  readonly runMsMax: number;
  readonly knowsAddress: (address: string) => boolean;
  readonly images: readonly ImageInput[];
  /** Shows an unfinished image of a call, by its place. Absent if the client requested no stream. */
  readonly onPartialImage?: ((at: number, number: number, image: ShownImage) => void) | undefined;
  /** Aborts when the client disconnects or the call's time is over. */
  readonly signal: AbortSignal;
  readonly logger: Pick<Logger, 'error'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called after each run. */
  readonly ran: Telemetry['toolRan'];
};

/** The most tools of one turn that run at a time. */
const parallelMax = 4;

/** The numbers that are reserved for the sources of each concurrent call. No tool finds more sources. */
const sourcesPerRun = 100;

/** Reads the arguments that the model wrote. Anything but an object counts as an empty one. */
export function readToolCall(call: ToolCallPart, tool: GatewayTool): ToolCall {
  const parsed = call.arguments === '' ? {} : parseJsonObject(call.arguments);
  return { call, tool, arguments: isJsonObject(parsed) ? parsed : {} };
}

/**
 * Runs the calls of one turn, a few at a time, and returns a promise for each, in their order. None rejects: failures
 * are reported to the model, which may continue.
 */
export function runTools(options: RunTools): readonly Promise<ToolReturn>[] {
  const waiting: (() => void)[] = [];
  let running = 0;
  const enter = (): Promise<void> => {
    if (running < parallelMax) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return options.calls.map(async (call, at) => {
    if (at >= options.runsMax) return answer(call, limitReached);
    await enter();
    try {
      const startedMs = options.clock.monotonicMs();
      const outcome = await runOne(call, at, options);
      const { failed: hasFailed, failure } = outcome.shown;
      options.ran(call.tool.kind, hasFailed === true ? (failure ?? 'failed') : 'ok', (options.clock.monotonicMs() - startedMs) / 1000);
      return answer(call, outcome);
    } finally {
      leave();
    }
  });
}

/** The lowest number above those of these sources. */
export function nextSource(sources: Iterable<Source>, first: number): number {
  let next = first;
  for (const { number } of sources) next = Math.max(next, number + 1);
  return next;
}

async function runOne({ call, tool, arguments: args }: ToolCall, at: number, options: RunTools): Promise<ToolOutcome> {
  const { signal, runMsMax, logger, knowsAddress, images, onPartialImage } = options;
  const firstSource = options.firstSource + at * sourcesPerRun;
  const showImage = onPartialImage && ((number: number, image: ShownImage) => onPartialImage(at, number, image));
  if (signal.aborted) return failed('It was stopped.', 'unavailable');
  const limit = new AbortController();
  const overdue = Promise.withResolvers<ToolOutcome>();
  const stop = (): void => {
    limit.abort(signal.reason);
    overdue.resolve(failed('It was stopped.', 'unavailable'));
  };
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => {
    limit.abort(new Error('the tool took too long'));
    overdue.resolve(failed('It took too long and was stopped.', 'timed-out'));
  }, runMsMax);
  try {
    // A tool that ignores its signal must not delay the reply.
    return await Promise.race([
      tool.run({
        callId: call.id,
        arguments: args,
        firstSource,
        knowsAddress,
        images,
        ...(showImage !== undefined && { onPartialImage: showImage }),
        signal: limit.signal,
      }),
      overdue.promise,
    ]);
  } catch (error) {
    logger.error({ err: error, tool: tool.kind }, 'tool failed with an unexpected error');
    return failed('It failed.', 'unavailable');
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function failed(answerText: string, failure: NonNullable<ServerToolPart['failure']>): ToolOutcome {
  return { answer: answerText, sources: [], shown: { failed: true, failure }, usage: {} };
}

const limitReached = failed('The limit of tool calls for this request is reached. Answer with what there is.', 'limit-reached');

function answer({ call }: ToolCall, outcome: ToolOutcome): ToolReturn {
  const result: ToolResultPart = {
    kind: 'tool-result',
    callId: call.id,
    name: call.name,
    content: [{ kind: 'text', text: outcome.answer }],
    isError: outcome.shown.failed === true,
  };
  return { outcome, result };
}

/** The usage of several runs together, without zeros. */
export function sumToolUsage(usages: readonly ToolUsage[]): ToolUsage {
  const sum: { -readonly [Name in keyof ToolUsage]: ToolUsage[Name] } = {};
  for (const name of toolMeterNames) {
    const total = usages.reduce((all, usage) => all + (usage[name] ?? 0), 0);
    if (total > 0) sum[name] = total;
  }
  return sum;
}
