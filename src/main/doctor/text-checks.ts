import type { InferenceReply } from '../../inference/inference-reply.ts';
import type { UsageReport } from '../../inference/usage.ts';
import { bad, callStream, callWhole, good, inputOf, type Outcome, textOf } from './call-checks.ts';
import { createRequest, imageQuestion, longQuestion, manyScripts, outputLimit, systemText } from './check-requests.ts';
import type { CheckName } from './finding.ts';
import type { Conversation, StreamReading } from './speak.ts';
import { suggestQuirk } from './suggest-quirk.ts';

/** Results of earlier checks of a row, for later ones. */
export type RowMemory = {
  whole?: InferenceReply;
  stream?: StreamReading;
  /** The reply with the function call. */
  called?: InferenceReply;
};

export type RunCheck = (conversation: Conversation, memory: RowMemory) => Promise<Outcome>;

const wordRequest = ({ checked, model }: Conversation) => ({ model, traits: checked.upstream.traitsOf(model), allowance: 'word' }) as const;

/** An empty reply is bad, unless the output limit explains it. */
function judgeText(reply: InferenceReply): Outcome {
  if (textOf(reply).trim() !== '' || reply.parts.some(({ kind }) => kind === 'refusal')) return good;
  if (reply.stopReason === 'output-limit')
    return {
      verdict: 'warning',
      says: 'the limit of output was used up by reasoning before any text',
      advice: 'choose a model that can answer without reasoning: weir doctor --model NAME',
    };
  return bad(`the reply has no text (stop reason: ${reply.stopReason})`, 'look into the log of the server');
}

export const checkReply: RunCheck = async (conversation, memory) => {
  const called = await callWhole(conversation, 'reply', createRequest(wordRequest(conversation), {}));
  if (called.failed !== undefined) return called.failed;
  memory.whole = called.reply;
  return judgeText(called.reply);
};

export const checkStream: RunCheck = async (conversation, memory) => {
  const called = await callStream(conversation, 'stream', createRequest(wordRequest(conversation), {}));
  if (called.failed !== undefined) return called.failed;
  memory.stream = called.stream;
  return judgeText(called.stream.reply);
};

/** Prompts and answers of these checks have far fewer tokens. A larger count does not count tokens. */
const plausibleMax = 20_000;

function judgeUsage(conversation: Conversation, check: CheckName, report: UsageReport | undefined): Outcome {
  const where = check === 'usage' ? 'the reply' : 'the stream';
  const estimate = 'without it the books hold an estimate';
  const quirk = suggestQuirk(conversation, check, '');
  if (report === undefined) {
    const asks = conversation.dialect.id === 'openai-chat' && check === 'stream-usage';
    const advice = asks
      ? `${estimate}. Let the server honour stream_options.include_usage (update it); quirks.streamOptions of upstream ${conversation.checked.upstream.id} is ${String(conversation.checked.upstream.acceptsStreamOptions)}: with false it is not asked for usage at all`
      : `${estimate}; update the server${quirk === undefined ? '' : `, or ${quirk}`}`;
    return bad(`${where} has no usage`, advice);
  }
  const input = inputOf(report);
  const { outputTokens } = report.usage;
  if (!report.trustworthy) return bad(`the counts in ${where} are not integers`, `${estimate}; update the server`);
  if (input === undefined || outputTokens === undefined)
    return bad(`the usage in ${where} is incomplete: it lacks ${input === undefined ? 'input' : 'output'}`, estimate);
  if (input < 1 || outputTokens < 1 || input > plausibleMax || outputTokens > plausibleMax)
    return bad(
      `the usage in ${where} is not plausible: ${input} in, ${outputTokens} out`,
      'the books would hold these counts: update the server',
    );
  return { verdict: 'good', says: `${input} in, ${outputTokens} out` };
}

const notCalled: Outcome = { verdict: 'none', says: 'not run: the call that it checks failed' };

export const checkUsage: RunCheck = (conversation, { whole }) =>
  Promise.resolve(whole === undefined ? notCalled : judgeUsage(conversation, 'usage', whole.usageReport));

/** The same request must have the same count whole and streamed, or one count is wrong. */
export const checkStreamUsage: RunCheck = (conversation, { whole, stream }) => {
  if (stream === undefined) return Promise.resolve(notCalled);
  const judged = judgeUsage(conversation, 'stream-usage', stream.reply.usageReport);
  const [inWhole, inStream] = [whole?.usageReport, stream.reply.usageReport].map((report) =>
    report === undefined ? undefined : inputOf(report),
  );
  if (judged.verdict !== 'good' || inWhole === undefined || inStream === undefined || inWhole === inStream) return Promise.resolve(judged);
  const says = `the same request counts ${inWhole} input tokens whole and ${inStream} streamed`;
  return Promise.resolve({
    verdict: 'warning',
    says,
    advice: 'the books contain the counts of each reply: compare them with the bill of the vendor',
  });
};

export const checkStop: RunCheck = async (conversation) => {
  const basics = wordRequest(conversation);
  const called = await callWhole(conversation, 'stop', createRequest(basics, { turns: longQuestion }));
  if (called.failed !== undefined) return called.failed;
  const { stopReason, usageReport } = called.reply;
  if (stopReason === 'failed')
    return bad('the reply does not say why it ended', 'update the server; clients cannot tell a truncated reply from a complete one');
  const limit = outputLimit(basics.traits, 'word');
  const outputTokens = usageReport?.usage.outputTokens;
  if (stopReason === 'output-limit') return { verdict: 'good', says: `truncated at ${outputTokens ?? limit} tokens, and reports it` };
  // Vendors round limits up a little; a larger excess means that the limit was ignored.
  if (outputTokens !== undefined && outputTokens > limit * 2 + 16)
    return bad(
      `a limit of ${limit} tokens was ignored: the reply has ${outputTokens}`,
      suggestQuirk(conversation, 'stop', '') ?? 'update the server',
    );
  return { verdict: 'good', says: `ended by itself within ${limit} tokens (${stopReason})` };
};

export const checkSystem: RunCheck = async (conversation, { whole }) => {
  const called = await callWhole(conversation, 'system', createRequest(wordRequest(conversation), { instructions: systemText }));
  if (called.failed !== undefined) return called.failed;
  const [plain, instructed] = [whole?.usageReport, called.reply.usageReport].map((report) =>
    report === undefined ? undefined : inputOf(report),
  );
  if (plain === undefined || instructed === undefined || instructed > plain) return good;
  return bad(
    `the system prompt is not counted (${plain} input tokens without it, ${instructed} with it): the model does not see it`,
    suggestQuirk(conversation, 'system', '') ?? 'look into the chat template of the server',
  );
};

export const checkUtf8: RunCheck = async (conversation) => {
  const called = await callStream(conversation, 'utf8', createRequest(wordRequest(conversation), { turns: [manyScripts] }));
  if (called.failed !== undefined) return called.failed;
  const answer = textOf(called.stream.reply);
  // A token limit may cut the last character, so the last one is ignored.
  if (!answer.slice(0, -2).includes('\uFFFD')) return good;
  return bad(
    'characters of several bytes arrive broken (U+FFFD)',
    'the server, or a proxy before it, cuts the stream inside characters: update it',
  );
};

const imageWords = /image|vision|multi-?modal|media|content\b.{0,40}(?:string|text|type)|inline_?data|mmproj/i;

export const checkImage: RunCheck = async (conversation) => {
  const called = await callWhole(conversation, 'image', createRequest(wordRequest(conversation), { turns: [imageQuestion()] }));
  if (called.failed === undefined) return good;
  const { says = '' } = called.failed;
  // Most self-hosted models accept no images and report it, which is not an error.
  if (called.status !== undefined && called.status !== 401 && called.status !== 429 && imageWords.test(says))
    return { verdict: 'none', says: `this model does not accept images (${says})` };
  return called.failed;
};
