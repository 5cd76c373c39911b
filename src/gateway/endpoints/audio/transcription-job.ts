import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { transcriptionModelOf, type TranscriptionModel } from '../../../dialects/openai-audio/audio-models.ts';
import { billedAudioMs } from '../../../dialects/openai-audio/audio-usage.ts';
import { transcriptContentTypes } from '../../../dialects/openai-audio/audio-formats.ts';
import { type TranscriptPlan, planTranscript } from '../../../dialects/openai-audio/plan-transcript.ts';
import type { TranscriptionFacts } from '../../../dialects/openai-audio/transcription-form.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import { encodeMultipart } from '../../../platform/http/multipart-body.ts';
import { noAudio } from '../../../upstreams/audio-service.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { serviceAt, type Target } from '../../attempts/routing/target.ts';
import type { AudioRequest, PreparedAudio } from './audio-job.ts';
import { createAudioRelay, type RelayedAudio } from './audio-relay.ts';
import { AudioDurationReader, type MeasureDuration } from './audio-duration-reader.ts';
import type { ReceivedForm } from './receive-form.ts';
import { rebuildForm } from './rebuild-form.ts';
import { rewriteTranscript, type WrittenTranscript } from './rewrite-transcript.ts';

/** A validated transcription request. */
export type TranscriptionCall = {
  readonly facts: TranscriptionFacts;
  readonly form: ReceivedForm;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly measure: MeasureDuration;
};

/** Creates the audio request of a transcription or translation. */
export function createTranscriptionJob(call: TranscriptionCall): AudioRequest {
  const { requestedModel, stream, promptCharacters, task } = call.facts;
  const { upload, container } = call.form.file;
  const length = new AudioDurationReader(upload, container, call.measure);
  return {
    operation: task === 'translate' ? 'translations' : 'transcriptions',
    facts: { requestedModel, stream, inputCharacters: promptCharacters, needs: [], outputTokensMax: 0 },
    // The recording may be on disk, so its length in bytes stands for it.
    digest: () => `${task} ${requestedModel} ${promptCharacters} ${upload.bytes}`,
    prepare: (target) => new PreparedTranscription(call, length, target),
    discard: () => void upload.discard(),
  };
}

/** The properties of the model behind a target. */
export function transcriptionModelAt({ upstream, upstreamModel, is }: Target): TranscriptionModel {
  return transcriptionModelOf(is ?? upstreamModel, (upstream.services.audio ?? noAudio).transcriptFormats);
}

/** Tokens of a second of a recording: one per tenth of a second, by the vendor's own figures. */
const tokensPerSecond = 10;
const secondMs = 1000;
/** The usual and the highest rate of speech, and the possible difference of the vendor's token count. */
const textTokensPerSecond = 3;
const textTokensPerSecondMax = 10;
const textTokensMin = 64;
const slack = 2;

/** The usage bounds of a transcription. The spoken text and the vendor's count are only known afterwards. */
export function boundTranscript({ billedBy }: TranscriptionModel, inputAudioMs: number, promptCharacters: number): UsageBounds {
  if (billedBy === 'duration') return { expected: { inputAudioMs }, most: { inputAudioMs } };
  const seconds = inputAudioMs / secondMs;
  const inputAudioTokens = Math.ceil(seconds * tokensPerSecond);
  const inputTokens = inputAudioTokens + estimateTokens(promptCharacters);
  return {
    expected: { inputTokens, inputAudioTokens, outputTokens: Math.ceil(seconds * textTokensPerSecond) },
    most: {
      inputTokens: inputTokens * slack,
      inputAudioTokens: inputAudioTokens * slack,
      outputTokens: Math.ceil(seconds * textTokensPerSecondMax) + textTokensMin,
    },
  };
}

/** No vendor counts more tokens for a second of audio, and no speech contains more text. */
const soundTokensPerSecondMax = 100;
const writtenTokensPerSecondMax = 40;
const ownTokensMax = 4096;

function possibleTranscript(inputAudioMs: number, promptCharacters: number) {
  const seconds = Math.ceil(inputAudioMs / secondMs);
  const inputTokens = seconds * soundTokensPerSecondMax + promptCharacters + ownTokensMax;
  return { inputTokens, inputAudioTokens: inputTokens, outputTokens: seconds * writtenTokensPerSecondMax + ownTokensMax };
}

class PreparedTranscription implements PreparedAudio {
  readonly request: PreparedAudio['request'];
  readonly #call: TranscriptionCall;
  readonly #length: AudioDurationReader;
  readonly #model: TranscriptionModel;
  readonly #plan: TranscriptPlan;
  #written: WrittenTranscript | undefined;
  #counting: Promise<MeteredCall> | undefined;

  /** @throws GatewayError if the model does not support the requested format */
  constructor(call: TranscriptionCall, length: AudioDurationReader, target: Target) {
    const { facts, form } = call;
    const { upstream, upstreamModel } = target;
    const audio = upstream.services.audio ?? noAudio;
    this.#call = call;
    this.#length = length;
    this.#model = transcriptionModelAt(target);
    this.#plan = planTranscript(facts, this.#model);
    const { contentType, body } = encodeMultipart(rebuildForm(form, { facts, plan: this.#plan, upstreamModel, traits: audio }));
    const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
    const headers = createUpstreamHeaders({ operation: 'generate', body: {}, headers: call.headers }, target, dialects, undefined);
    Object.assign(headers, { 'content-type': contentType, accept: facts.stream ? 'text/event-stream, */*' : '*/*' });
    const path = facts.task === 'translate' ? audio.translations : audio.transcriptions;
    this.request = { path: serviceAt(upstream, path ?? '', upstreamModel), method: 'POST', headers, body: undefined, streamedBody: body };
  }

  bounds(): UsageBounds {
    return boundTranscript(this.#model, this.#length.current.audioMs, this.#call.facts.promptCharacters);
  }

  possible(): Usage {
    const inputAudioMs = this.#length.longestMs();
    return { inputAudioMs, ...possibleTranscript(inputAudioMs, this.#call.facts.promptCharacters) };
  }

  atHead(): Usage {
    return this.#usageOf(this.#length.current.audioMs, 0).usage;
  }

  learnMore(): Promise<void> {
    return this.#length.measureUnlessQuick();
  }

  createRelay(relayed: RelayedAudio): ReplyRelay {
    const { facts } = this.#call;
    return createAudioRelay(relayed, {
      stream: facts.stream,
      shape: 'whole',
      typeOf: () => transcriptContentTypes[facts.format],
      parse: (body) => (this.#written = rewriteTranscript(body, facts, this.#plan)),
      readReply: () => this.#describe(),
      writeReply: () => this.#written?.body ?? Buffer.alloc(0),
      // If the duration is charged, the last events of a stream wait until the recording is measured.
      kept: () => this.#counting?.then(() => {}),
    });
  }

  #describe(): ReplyReport {
    const { report, textCharacters = 0 } = this.#written ?? {};
    return { outputCharacters: textCharacters, ...(report !== undefined && { usageReport: report }) };
  }

  /** In this order: the vendor's count, the measured duration, the duration that the server reports, the estimate. */
  count(reply: ReplyReport | undefined): MeteredCall | Promise<MeteredCall> {
    const report = reply?.usageReport;
    if (report?.trustworthy === true && this.#countsWhatIsBilled(report))
      return { usage: report.usage, rawUsage: report.raw, estimated: false };
    this.#counting = this.#countSound(report, reply?.outputCharacters ?? 0);
    return this.#counting;
  }

  async #countSound(report: UsageReport | undefined, textCharacters: number): Promise<MeteredCall> {
    const { audioMs, measured } = await this.#length.measure();
    const saidSeconds = this.#written?.durationSeconds;
    const saidMs = saidSeconds === undefined ? undefined : billedAudioMs(saidSeconds);
    const { usage, estimated } = this.#usageOf(measured ? audioMs : (saidMs ?? audioMs), textCharacters);
    const evidence = report === undefined ? {} : { rawUsage: report.raw };
    return { usage: { ...usage, ...report?.usage }, ...evidence, estimated: estimated || !(measured || saidMs !== undefined) };
  }

  /**
   * Self-hosted servers may report tokens for models that are billed by the minute; minutes cannot be charged by these.
   */
  #countsWhatIsBilled({ usage }: UsageReport): boolean {
    return this.#model.billedBy === 'tokens' || usage.inputAudioMs !== undefined;
  }

  /**
   * The usage by duration; tokens are estimated. Models that are billed by tokens may have a price for minutes too, and
   * the same audio is not charged twice.
   */
  #usageOf(inputAudioMs: number, textCharacters: number): { readonly usage: Usage; readonly estimated: boolean } {
    if (this.#model.billedBy === 'duration') return { usage: { inputAudioMs }, estimated: false };
    const inputAudioTokens = (inputAudioMs / secondMs) * tokensPerSecond;
    const inputTokens = inputAudioTokens + estimateTokens(this.#call.facts.promptCharacters);
    return { usage: { inputTokens, inputAudioTokens, outputTokens: estimateTokens(textCharacters) }, estimated: true };
  }
}
