import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import type { FunctionTool, InferenceRequest, ServiceTier } from '../../../inference/inference-request.ts';
import { noteLostContent, type MissingCapabilities } from '../../../inference/note-lost-content.ts';
import { withoutLogprobFields } from '../../../inference/token-logprobs.ts';
import { fitToolNames, listToolNames } from '../../../inference/tool-names.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EncodedRequest, RequestFit } from '../../chat-codec.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeContents, keepReplayable, type ContentWriting } from './encode-contents.ts';
import { encodeTools } from './encode-tools.ts';
import { OwnFields } from './own-fields.ts';
import { separateTools } from './separate-tools.ts';

/** Source: the vendor's refusal of other names, and its documented 64 characters. */
const nameRules = { pattern: /^[A-Za-z0-9_.:-]$/, firstPattern: /^[A-Za-z_]$/, charactersMax: 64 };

const tiers: Readonly<Record<ServiceTier, string | undefined>> = {
  auto: undefined,
  default: 'standard',
  flex: 'flex',
  priority: 'priority',
};

/** Writes a request for a server of this dialect. Model and framing are in the path. */
export function encodeRequest(original: InferenceRequest, fit: RequestFit): EncodedRequest {
  const request = separateTools(original, fit);
  const own = new OwnFields(withoutLogprobFields(request));
  const answerTool = createAnswerTool(request, fit);
  const { toWireName, renamed } = fitToolNames(
    [...listToolNames(request), ...(answerTool === undefined ? [] : [answerTool.name])],
    nameRules,
  );
  const { config, cutAt } = encodeConfig(request, fit, answerTool !== undefined);
  const serviceTier = request.serviceTier === undefined ? undefined : tiers[request.serviceTier];
  const body: JsonObject = {
    contents: encodeTurns(request, { fit, own, toWireName }),
    ...encodeInstructions(request),
    ...encodeTools(request, { fit, own, toWireName, ...(answerTool === undefined ? {} : { answerTool }) }),
    ...encodeOwnConfig(config, own),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...own.take(''),
  };
  own.noteRest(fit.notes);
  noteLostContent(original, missingCapabilities(fit), fit.notes);
  return {
    body,
    ...(renamed.size === 0 ? {} : { toolNames: renamed }),
    ...(answerTool === undefined ? {} : { answerTool: toWireName(answerTool.name) }),
    ...(cutAt === undefined ? {} : { cutAt }),
  };
}

const missingCapabilities = ({ proofOrigin }: RequestFit): MissingCapabilities => ({
  proofOrigin,
  endUser: true,
  verbosity: true,
  strictTools: true,
  mediaNames: true,
  citations: 'all',
  // Its own thoughts have no proof, and it does not read them again.
  takesReasoning: ({ proof }) => proof === undefined || (proof.origin === proofOrigin && proof.hidden !== true),
});

function encodeOwnConfig(config: JsonObject, own: OwnFields): JsonObject {
  const format = own.take('generationConfig.responseFormat');
  const whole = {
    ...config,
    ...own.take('generationConfig'),
    ...(Object.keys(format).length === 0 ? {} : { responseFormat: format }),
  };
  return Object.keys(whole).length === 0 ? {} : { generationConfig: whole };
}

function encodeTurns(request: InferenceRequest, writing: ContentWriting): readonly JsonObject[] {
  const { fit, own } = writing;
  const runsCode = fit.traits.codeExecution && request.tools.some((tool) => tool.kind === 'code-execution');
  const replayable = keepReplayable(request.turns, fit, { runsCode, isOwn: own.isOwn });
  const turns = arrangeTurns(replayable, { alternate: true, startsWithUser: true, systemTurns: 'as-user' }, fit.notes);
  if (turns.at(-1)?.role === 'assistant' && !fit.traits.prefill) {
    fit.notes.adapted('turns', "the conversation ends with the model's text; this model may answer it instead of continuing it");
  }
  return encodeContents(turns, writing);
}

function encodeInstructions({ instructions }: InferenceRequest): JsonObject {
  const parts = instructions.flatMap(({ text }) => (text === '' ? [] : [{ text }]));
  return parts.length === 0 ? {} : { systemInstruction: { parts } };
}

/** Creates a function whose arguments are the answer, for models that do not support answer schemas. */
function createAnswerTool({ outputFormat, tools }: InferenceRequest, { traits, notes }: RequestFit): FunctionTool | undefined {
  if (outputFormat?.kind !== 'json-schema') return undefined;
  const besideFunctions = tools.some((tool) => tool.kind === 'function') && !traits.mixesTools;
  if (traits.structuredOutput && !besideFunctions) return undefined;
  notes.emulated(
    'outputFormat',
    `this model does not support answer schemas${besideFunctions ? ' beside functions' : ''}; a function with the schema replaces it`,
  );
  const isTaken = (name: string): boolean => tools.some((tool) => tool.kind === 'function' && tool.name === name);
  let name = 'final_answer';
  while (isTaken(name)) name = `${name}_`;
  const description = outputFormat.description ?? 'Gives the final answer. Call it once, with the whole answer.';
  return { kind: 'function', name, description, parameters: outputFormat.schema };
}
