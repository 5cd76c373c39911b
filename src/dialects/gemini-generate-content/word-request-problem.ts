import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { formatPath } from '../format-path.ts';
import { wordProblem } from '../word-problem.ts';
import { neutralToolNames, toSnakeCase } from './canonicalize-request.ts';

type Path = SchemaProblem['path'];

/** The ways to write a field, as a request may hold it. */
function listSpellings(name: string): readonly string[] {
  const neutral = Object.keys(neutralToolNames).find((key) => neutralToolNames[key] === name);
  return [name, ...(neutral === undefined ? [] : [neutral])].flatMap((spelling) => [spelling, toSnakeCase(spelling)]);
}

/** Turns a path in the canonical form into one in the request as the client wrote it, so that the client finds the field it sent. */
function spellPath(body: JsonObject, path: Path): Path {
  const spelled: (string | number)[] = [];
  let node: JsonValue | undefined = body;
  for (const step of path) {
    if (typeof step === 'number') {
      // A single object that stands for a list has no index. A text has no parts, and yet the canonical form has some.
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

/** The vendor's text for an unknown name; it always writes paths in snake_case. */
function wordUnknown(problem: SchemaProblem): string {
  const parent = formatPath(problem.path.slice(0, -1).map((step) => (typeof step === 'string' ? toSnakeCase(step) : step)));
  return `Invalid JSON payload received. Unknown name "${String(problem.path.at(-1))}"${at(parent)}: Cannot find field.`;
}

/** What the patterns of the request schema ask for. Regular expressions say it to programs only. */
const formats: Readonly<Record<string, string>> = {
  data: 'be base64 (standard or URL-safe)',
  mimeType: 'be a MIME type such as image/png',
  cachedContent: 'have the format cachedContents/{cachedContent}',
};

/** The client's media are not repeated to it. */
const wordActual = (problem: SchemaProblem): string =>
  problem.path.at(-1) === 'data' ? 'other characters' : `'${String(problem.actual)}'`;

/** Problems that the schema can only call surplus, missing or unlike a pattern, and that have more to say. */
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

/** Says a problem of a canonical request in the vendor's manner, naming the field as the client spelled it. */
export function wordRequestProblem(problem: SchemaProblem, body: JsonObject): GatewayError {
  const name = formatPath(spellPath(body, problem.path));
  const message = wordMessage(problem, name);
  const isUnknown = message.startsWith('Invalid JSON payload received. Unknown name');
  const code = problem.rule === 'required' ? 'missing_required_field' : isUnknown ? 'unknown_field' : 'invalid_value';
  return new GatewayError(code, message, { param: name });
}
