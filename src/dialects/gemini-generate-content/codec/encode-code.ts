import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The part of code that runs or has run. */
export const encodeExecutable = (code: string): JsonObject => ({ executableCode: { language: 'PYTHON', code } });

/** The part of what came of it: nothing while nothing has. Code that failed has an outcome even where it put nothing out. */
export function encodeCodeResult({ results, failed, failure }: ServerToolPart): readonly JsonObject[] {
  if (results === undefined && failed !== true) return [];
  const output = (results ?? []).reduce((all, { text = '' }) => all + (all === '' || all.endsWith('\n') ? '' : '\n') + text, '');
  const outcome = failed !== true ? 'OUTCOME_OK' : failure === 'timed-out' ? 'OUTCOME_DEADLINE_EXCEEDED' : 'OUTCOME_FAILED';
  return [{ codeExecutionResult: { outcome, output } }];
}

/** Code that was run for a reply, and what came of it. */
export function encodeCode(part: ServerToolPart): readonly JsonObject[] {
  return [encodeExecutable(part.input.join('\n')), ...encodeCodeResult(part)];
}
