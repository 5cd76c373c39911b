import { fitCallId } from '../../../../inference/call-ids.ts';
import type { InferenceRequest, Part, ServerToolPart, TextPart, ToolFinding, Turn } from '../../../../inference/inference-request.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { isJsonObject } from '../../../../platform/json/json-value.ts';
import type { OfferedTools } from './offer-tools.ts';

/** The most characters of one earlier result that the model gets again. */
const resultCharactersMax = 20_000;

const titles: Readonly<Record<ServerToolPart['tool'], string>> = {
  'web-search': 'Web search',
  'code-execution': 'Code execution',
  'file-search': 'File search',
  'url-context': 'Page reading',
  'image-generation': 'Image generation',
  other: 'Tool',
};

/**
 * Rewrites earlier uses of built-in tools for any model: as a call and its result if the tool is offered, otherwise as
 * a note. Nothing is dropped silently, and no item of one vendor is sent to another.
 */
export function replayTools(request: InferenceRequest, offered: OfferedTools): InferenceRequest {
  const hasToolUse = request.turns.some(({ parts }) => parts.some(({ kind }) => kind === 'server-tool'));
  return hasToolUse ? { ...request, turns: request.turns.flatMap((turn, at) => replayTurn(turn, at, offered)) } : request;
}

function replayTurn(turn: Turn, turnAt: number, offered: OfferedTools): readonly Turn[] {
  if (!turn.parts.some(({ kind }) => kind === 'server-tool')) return [turn];
  const turns: Turn[] = [];
  let open: Part[] = [];
  for (const [partAt, part] of turn.parts.entries()) {
    if (part.kind !== 'server-tool') {
      open.push(part);
      continue;
    }
    const name = part.results === undefined ? undefined : nameOf(part, offered);
    if (name === undefined || turn.role !== 'assistant') {
      open.push(noteOf(part));
      continue;
    }
    // Ids of earlier replies may be missing, and must differ from those of this one.
    const id = fitCallId(part.id === '' ? `earlier_${turnAt}_${partAt}` : part.id, { pattern: /^[A-Za-z0-9_-]+$/, charactersMax: 40 });
    open.push({ kind: 'tool-call', id, name, arguments: JSON.stringify(argumentsOf(part, offered.get(name)?.offer.parameters)) });
    turns.push({ ...turn, parts: open });
    const isError = part.failed === true;
    turns.push({ role: 'user', parts: [{ kind: 'tool-result', callId: id, name, content: [textPart(describeResults(part))], isError }] });
    open = [];
  }
  return open.length === 0 ? turns : [...turns, { ...turn, parts: open }];
}

function nameOf({ tool }: ServerToolPart, offered: OfferedTools): string | undefined {
  for (const [name, { kind }] of offered) if (kind === tool) return name;
  return undefined;
}

/** The input as arguments of the replacing function: its first parameter gets it, as a list or as one text. */
function argumentsOf({ input }: ServerToolPart, parameters: JsonObject | undefined): JsonObject {
  const properties = parameters?.properties;
  const [first] = isJsonObject(properties) ? Object.entries(properties) : [];
  if (first === undefined) return { input: [...input] };
  const [name, schema] = first;
  return { [name]: isJsonObject(schema) && schema.type === 'array' ? [...input] : input.join('\n') };
}

function textPart(text: string): TextPart {
  return { kind: 'text', text };
}

function noteOf(part: ServerToolPart): TextPart {
  const input = part.input.join('; ');
  const found = part.results === undefined ? '' : `\n${describeResults(part)}`;
  return textPart(`[${titles[part.tool]}${input === '' ? '' : `: ${input}`}]${found}`);
}

function describeResults({ results = [], failed }: ServerToolPart): string {
  const described = results.map(describeFinding).filter((text) => text !== '');
  if (described.length === 0) return failed === true ? 'It failed.' : 'Nothing was found.';
  return described.join('\n\n').slice(0, resultCharactersMax);
}

function describeFinding({ title, url, date, text, unreadable }: ToolFinding): string {
  const head = [title, url, date].filter((part) => part !== undefined).join(' · ');
  return [head, unreadable === true ? 'It could not be read.' : text].filter((line) => line !== undefined && line !== '').join('\n');
}
