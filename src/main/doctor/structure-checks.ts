import type { InferenceReply } from '../../inference/inference-reply.ts';
import type { InferenceRequest, ToolCallPart, Turn } from '../../inference/inference-request.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { bad, callStream, callWhole, good, type Outcome, textOf } from './call-checks.ts';
import {
  colourFormat,
  colourQuestion,
  createRequest,
  findColourProblem,
  weatherQuestion,
  weatherResult,
  weatherTool,
} from './check-requests.ts';
import type { CheckName } from './finding.ts';
import { showWords } from './explain-failure.ts';
import type { Conversation } from './speak.ts';
import { suggestQuirk } from './suggest-quirk.ts';
import type { RunCheck } from './text-checks.ts';

function structureRequest({ checked, model }: Conversation, changes: Partial<InferenceRequest>): InferenceRequest {
  return createRequest({ model, traits: checked.upstream.traitsOf(model), allowance: 'structure' }, changes);
}

/** A request that forces a call if possible. At several vendors a model that always reasons refuses a forced call. */
function toolRequest(conversation: Conversation): InferenceRequest {
  const { traits, forced } = forcing(conversation);
  return structureRequest(conversation, {
    turns: [weatherQuestion],
    tools: [weatherTool],
    toolChoice: { kind: forced ? 'required' : 'auto' },
    ...(traits.chat.parallelToolCallsField ? { parallelToolCalls: false } : {}),
  });
}

function forcing({ checked, model, dialect }: Conversation) {
  const traits = checked.upstream.traitsOf(model);
  return { traits, forced: dialect.id !== 'openai-chat' || traits.chat.forcedToolChoice };
}

function parseArguments(written: string): unknown {
  try {
    return parseJson(written === '' ? '{}' : written);
  } catch {
    return undefined;
  }
}

function judgeCall(conversation: Conversation, check: CheckName, reply: InferenceReply): Outcome {
  const calls = reply.parts.filter((part): part is ToolCallPart => part.kind === 'tool-call');
  const [call] = calls;
  if (call === undefined) {
    if (!forcing(conversation).forced)
      return {
        verdict: 'warning',
        says: 'the model answered without a call',
        advice: 'this server cannot be made to call; try a model that is trained for tools',
      };
    if (reply.stopReason === 'output-limit')
      return { verdict: 'warning', says: 'the limit of output was used up by reasoning before the call' };
    return bad(
      'the request required a call, and the reply has none',
      suggestQuirk(conversation, check, '') ?? 'choose a model that can call tools',
    );
  }
  if (call.name !== weatherTool.name)
    return bad(
      `a function was called that was not offered: ${showWords(call.name, conversation.checked)}`,
      'choose a model that is trained for tools',
    );
  const said = parseArguments(call.arguments);
  if (!isJsonObject(said))
    return bad('the arguments of the call are not a JSON object', 'clients cannot read them: look into the tool parser of the server');
  if (typeof said.city !== 'string')
    return bad(
      'the arguments of the call ignore the schema: "city" is missing',
      'the server does not enforce the schema: choose another model, or switch guided decoding on',
    );
  if (reply.stopReason !== 'tool-calls')
    return bad(
      `the reply contains a call, but its stop reason is another (${reply.stopReason})`,
      'clients that look at the stop reason will not run the tool: update the server',
    );
  return good;
}

export const checkTool: RunCheck = async (conversation, memory) => {
  const called = await callWhole(conversation, 'tool', toolRequest(conversation));
  if (called.failed !== undefined) return called.failed;
  const judged = judgeCall(conversation, 'tool', called.reply);
  if (judged.verdict === 'good') memory.called = called.reply;
  return judged;
};

export const checkToolStream: RunCheck = async (conversation) => {
  const called = await callStream(conversation, 'tool-stream', toolRequest(conversation));
  return called.failed ?? judgeCall(conversation, 'tool-stream', called.stream.reply);
};

/** The second half of the tool loop: the model's reply, with proofs of its reasoning, is sent back with the result. */
export const checkToolResult: RunCheck = async (conversation, { called }) => {
  if (called === undefined) return { verdict: 'none', says: 'not run: there was no call to answer' };
  const assistant: Turn = { role: 'assistant', parts: called.parts };
  const results = called.parts.flatMap((part) => (part.kind === 'tool-call' ? weatherResult(part.id).parts : []));
  const request = structureRequest(conversation, {
    turns: [weatherQuestion, assistant, { role: 'user', parts: results }],
    tools: [weatherTool],
  });
  const answered = await callWhole(conversation, 'tool-result', request);
  if (answered.failed !== undefined) return answered.failed;
  const { reply } = answered;
  if (textOf(reply).trim() !== '' || reply.parts.some(({ kind }) => kind === 'tool-call')) return good;
  if (reply.stopReason === 'output-limit')
    return { verdict: 'warning', says: 'the limit of output was used up by reasoning before any text' };
  return bad(
    'the reply to the result of the tool is empty',
    suggestQuirk(conversation, 'tool-result', '') ?? 'look into the chat template of the server',
  );
};

export const checkJson: RunCheck = async (conversation) => {
  const traits = conversation.checked.upstream.traitsOf(conversation.model);
  if (!traits.structuredOutput) return { verdict: 'none', says: 'it takes no schema (quirks.structuredOutput): a tool stands in for it' };
  const called = await callWhole(
    conversation,
    'json',
    structureRequest(conversation, { turns: [colourQuestion], outputFormat: colourFormat }),
  );
  if (called.failed !== undefined) return called.failed;
  const text = textOf(called.reply);
  if (called.reply.stopReason === 'output-limit') return { verdict: 'warning', says: 'the JSON was truncated at the limit of output' };
  let answer: unknown;
  try {
    answer = parseJson(text);
  } catch {
    return ignored(conversation, `the answer is not JSON: ${showWords(text.slice(0, 80), conversation.checked)}`);
  }
  const problem = findColourProblem(answer);
  return problem === undefined ? good : ignored(conversation, `the answer does not match the schema: ${problem}`);
};

function ignored(conversation: Conversation, says: string): Outcome {
  const quirk = suggestQuirk(conversation, 'json', '');
  return bad(`the schema is ignored; ${says}`, quirk ?? 'choose a model that takes schemas: weir doctor --model NAME');
}
