import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Writes the part of code that runs or has run. */
export const encodeExecutable = (code: string): JsonObject => ({ executableCode: { language: 'PYTHON', code } });

/** Writes the part of its result, if there is one. Failed code has an outcome even without output. */
export function encodeCodeResult({ results, failed, failure }: ServerToolPart): readonly JsonObject[] {
  if (results === undefined && failed !== true) return [];
  const output = (results ?? []).reduce((all, { text = '' }) => all + (all === '' || all.endsWith('\n') ? '' : '\n') + text, '');
  const outcome = failed !== true ? 'OUTCOME_OK' : failure === 'timed-out' ? 'OUTCOME_DEADLINE_EXCEEDED' : 'OUTCOME_FAILED';
  return [{ codeExecutionResult: { outcome, output } }];
}

/** Writes code that ran for a reply, and its result. */
export function encodeCode(part: ServerToolPart): readonly JsonObject[] {
  return [encodeExecutable(part.input.join('\n')), ...encodeCodeResult(part)];
}
