import { filledText } from '../platform/json/json-readers.ts';
import { isJsonObject, type JsonValue } from '../platform/json/json-value.ts';

/** The most findings that are named. */
const findingsMax = 8;

/** A trace is not this deep. */
const depthMax = 12;

/**
 * Describes what a guardrail of AWS found, from its trace: `VIOLENCE, PROMPT_ATTACK`. Never the text that matched.
 * Empty without a trace. Source: GuardrailAssessment of the Bedrock API reference: each finding has a `type` or a
 * `name`, and the `action` that was taken.
 */
export function describeGuardrail(trace: JsonValue | undefined): string {
  const found = new Set<string>();
  collect(trace, found, 0);
  return [...found].slice(0, findingsMax).join(', ').slice(0, 200);
}

function collect(value: JsonValue | undefined, found: Set<string>, depth: number): void {
  if (depth > depthMax || found.size >= findingsMax) return;
  if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) collect(item, found, depth + 1);
  if (!isJsonObject(value)) return;
  const named = filledText(value.name) ?? filledText(value.type);
  if (named !== undefined && (value.action === 'BLOCKED' || value.action === 'ANONYMIZED')) found.add(named);
  for (const name of Object.keys(value)) collect(value[name], found, depth + 1);
}
