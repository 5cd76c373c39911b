import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { formatPath } from '../format-path.ts';
import { wordProblem } from '../word-problem.ts';
import { neutralToolNames, toSnakeCase } from './canonicalize-request.ts';

type Path = SchemaProblem['path'];

/** Lists the spellings of a field. */
function listSpellings(name: string): readonly string[] {
  const neutral = Object.keys(neutralToolNames).find((key) => neutralToolNames[key] === name);
  return [name, ...(neutral === undefined ? [] : [neutral])].flatMap((spelling) => [spelling, toSnakeCase(spelling)]);
}

/** Converts a path of the canonical form into the client's spelling, so that the client finds the field. */
function spellPath(body: JsonObject, path: Path): Path {
  const spelled: (string | number)[] = [];
  let node: JsonValue | undefined = body;
  for (const step of path) {
    if (typeof step === 'number') {
      // A single object in place of a list has no index. A text has no parts, but the canonical form has them.
      if (!Array.isArray(node)) continue;
      spelled.push(step);
      node = (node as readonly JsonValue[])[step];
      continue;
    }
    const parent: JsonObject | undefined = isJsonObject(node) ? node : undefined;
    if (parent === undefined && node !== undefined && step === 'parts') continue;
    const found = parent === undefined ? undefined : listSpellings(step).find((spelling) => Object.hasOwn(parent, spelling));
    spelled.push(found ?? step);
    node = found === undefined ? undefined : parent?.[found];
  }
  return spelled;
}

const at = (name: string): string => (name === '' ? '' : ` at '${name}'`);

const inlineOnly =
  "files by reference are not supported. Send the bytes as base64 in 'inlineData', with 'mimeType' and 'data' (audio, video and PDF are accepted only so)";

/** Writes the vendor's text for an unknown name; its paths are always in snake_case. */
function wordUnknown(problem: SchemaProblem): string {
  const parent = formatPath(problem.path.slice(0, -1).map((step) => (typeof step === 'string' ? toSnakeCase(step) : step)));
  return `Invalid JSON payload received. Unknown name "${String(problem.path.at(-1))}"${at(parent)}: Cannot find field.`;
}

/** The requirements of the schema's patterns, as text. */
const formats: Readonly<Record<string, string>> = {
  data: 'be base64 (standard or URL-safe)',
  mimeType: 'be a MIME type such as image/png',
  cachedContent: 'have the format cachedContents/{cachedContent}',
};

/** The message does not repeat the client's media. */
const wordActual = (problem: SchemaProblem): string =>
  problem.path.at(-1) === 'data' ? 'other characters' : `'${String(problem.actual)}'`;

/** Problems that the schema reports only as surplus, missing or mismatched, with a better message. */
function wordSpecialCase(problem: SchemaProblem, name: string): string | undefined {
  const field = problem.path.at(-1);
  const isInstruction = problem.path.includes('systemInstruction');
  if (isInstruction && problem.path.includes('parts') && (problem.rule === 'required' || problem.rule === 'unknown-field')) {
    const isText = field === 'text' || typeof problem.expected === 'object';
    if (isText && problem.path.length > 2 && problem.path.at(-2) !== 'systemInstruction') {
      return `Invalid value at '${name}': the system instruction takes text only. Every part must have 'text' and nothing else.`;
    }
  }
  if (field === 'fileData') return `Invalid value at '${name}': ${inlineOnly}.`;
  const format = problem.rule === 'pattern' ? formats[String(field)] : undefined;
  return format === undefined ? undefined : `Invalid value at '${name}': must ${format}, but got ${wordActual(problem)}.`;
}

function wordMessage(problem: SchemaProblem, name: string): string {
  const special = wordSpecialCase(problem, name);
  if (special !== undefined) return special;
  if (problem.rule === 'unknown-field') return wordUnknown(problem);
  if (problem.rule === 'required') return `Missing required field '${name}'.`;
  return `Invalid value${at(name)}: ${wordProblem(problem)}.`;
}

/** Writes a problem of a canonical request in the vendor's form, with the client's name of the field. */
export function wordRequestProblem(problem: SchemaProblem, body: JsonObject): GatewayError {
  const name = formatPath(spellPath(body, problem.path));
  const message = wordMessage(problem, name);
  const isUnknown = message.startsWith('Invalid JSON payload received. Unknown name');
  const code = problem.rule === 'required' ? 'missing_required_field' : isUnknown ? 'unknown_field' : 'invalid_value';
  return new GatewayError(code, message, { param: name });
}
