import { bad, type Outcome } from './call-checks.ts';
import { showWords } from './explain-failure.ts';
import { checkNames, type CheckName, type CheckResult, type MatrixRow, tidyWords } from './finding.ts';
import { checkCount, checkError } from './free-checks.ts';
import type { Conversation } from './speak.ts';
import { checkJson, checkTool, checkToolResult, checkToolStream } from './structure-checks.ts';
import {
  checkImage,
  checkReply,
  checkStop,
  checkStream,
  checkStreamUsage,
  checkSystem,
  checkUsage,
  checkUtf8,
  type RowMemory,
  type RunCheck,
} from './text-checks.ts';

type Check = {
  readonly run: RunCheck;
  /** Whether it makes a generation, which vendors bill. */
  readonly costs: boolean;
  /** Checks whose replies it uses. */
  readonly needs: readonly CheckName[];
};

const checks: Readonly<Record<CheckName, Check>> = {
  reply: { run: checkReply, costs: true, needs: [] },
  stream: { run: checkStream, costs: true, needs: [] },
  usage: { run: checkUsage, costs: true, needs: ['reply'] },
  'stream-usage': { run: checkStreamUsage, costs: true, needs: ['stream'] },
  stop: { run: checkStop, costs: true, needs: [] },
  system: { run: checkSystem, costs: true, needs: ['reply'] },
  tool: { run: checkTool, costs: true, needs: [] },
  'tool-stream': { run: checkToolStream, costs: true, needs: [] },
  'tool-result': { run: checkToolResult, costs: true, needs: ['tool'] },
  json: { run: checkJson, costs: true, needs: [] },
  image: { run: checkImage, costs: true, needs: [] },
  utf8: { run: checkUtf8, costs: true, needs: [] },
  count: { run: checkCount, costs: false, needs: [] },
  error: { run: checkError, costs: false, needs: [] },
};

/** Counts the billed calls of one row. */
export function countCalls(chosen: ReadonlySet<CheckName>): number {
  return [...chosen].filter((name) => checks[name].costs && name !== 'usage' && name !== 'stream-usage').length;
}

/**
 * The checks to run: the requested ones with their dependencies, or all if none is named. Without permission for billed
 * calls, only free ones.
 */
export function chooseChecks(asked: readonly CheckName[], mayCost: boolean): ReadonlySet<CheckName> {
  const wanted = asked.length === 0 ? checkNames : asked;
  const all = new Set(wanted.flatMap((name) => [...checks[name].needs, name]));
  return new Set(checkNames.filter((name) => all.has(name) && (mayCost || !checks[name].costs)));
}

const notRun = (says: string): Outcome => ({ verdict: 'none', says });

/** Runs a check. An unexpected error becomes an outcome, so that the operator still gets the report. */
async function runSafely(run: RunCheck, conversation: Conversation, memory: RowMemory): Promise<Outcome> {
  try {
    return await run(conversation, memory);
  } catch (error) {
    const says = showWords(error instanceof Error ? error.message : String(error), conversation.checked);
    return bad(`the check itself failed: ${says}`, 'this may be a bug of Weir: report it, with the name of the server');
  }
}

/**
 * Runs the chosen checks of one row sequentially, because a small server answers one call at a time. If the first call
 * fails or the time is over, the others do not run, because they would fail the same and cost.
 */
export async function examineModel(
  conversation: Conversation,
  chosen: ReadonlySet<CheckName>,
  { onCheck, onResult }: { readonly onCheck: (check: CheckName) => void; readonly onResult?: ((row: MatrixRow) => void) | undefined },
): Promise<MatrixRow> {
  const { checked, dialect, model, limits } = conversation;
  const memory: RowMemory = {};
  const results: CheckResult[] = [];
  const row = (): MatrixRow => ({
    upstream: checked.upstream.id,
    model: tidyWords(model),
    dialect: dialect.id,
    title: dialect.title,
    results: [...results],
  });
  let hopeless: string | undefined;
  for (const check of checkNames) {
    if (!chosen.has(check)) continue;
    if (limits.signal.aborted) hopeless = 'not run: interrupted';
    if (hopeless !== undefined) {
      results.push({ check, ...notRun(hopeless) });
      continue;
    }
    onCheck(check);
    const startedMs = performance.now();
    const outcome = await runSafely(checks[check].run, conversation, memory);
    results.push({ check, ...outcome, tookMs: Math.round(performance.now() - startedMs) });
    onResult?.(row());
    if (check === 'reply' && outcome.verdict === 'bad') hopeless = 'not run: the first call failed';
  }
  return row();
}
