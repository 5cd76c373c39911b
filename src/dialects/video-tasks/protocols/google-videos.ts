import type { VideoInput, VideoRequest } from '../../../inference/video.ts';
import { countOf, filledText, membersOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { rawMember, textMember, type TextMember, listTextMembers, writeTextObject } from '../json-text.ts';
import { untranslatable, wrongValue } from '../request-problem.ts';
import type { UpstreamVideo, VideoAccount, VideoProtocol, VideoProtocolId, VideoSubmission } from '../video-protocol.ts';
import { billOf, finishSubmission, isOwnField, joinChoices, requireOneOf } from './submission-parts.ts';
import {
  moderationError,
  readErrorText,
  readFailure,
  readProgress,
  readStatusWith,
  readSubmissionWith,
  taskIdOf,
  unclear,
  withProgress,
} from './upstream-replies.ts';

// Veo at the Gemini API and at Vertex AI: https://ai.google.dev/gemini-api/docs/video, and the model reference "Veo" of
// Vertex AI. Members and paths are those of Google's genai SDK 2.32.0.

/** The differences of a service. */
type Service = {
  readonly id: VideoProtocolId;
  /** Members of `metadata` that become parameters. None of them has a price by itself. */
  readonly parameters: ReadonlySet<string>;
  /** Parameters that the service requires, unless the client sends them. */
  readonly required: (upstreamModel: string) => Readonly<Record<string, boolean>>;
};

const ratios: readonly string[] = ['16:9', '9:16'];
/** The vendor's word for each resolution. */
const resolutionWords: Readonly<Record<string, string>> = { '720p': '720p', '1080p': '1080p', '2160p': '4k' };
const defaults = { seconds: 8, resolution: '720p', aspectRatio: '16:9' };
const referencesMax = 3;

const isSecond = (model: string): boolean => /(?:^|\/)veo-2/.test(model);

/** Lengths in seconds. The second generation has others than later ones. */
const lengthsOf = (model: string): readonly number[] => (isSecond(model) ? [5, 6, 7, 8] : [4, 6, 8]);

function chooseSeconds({ durationSeconds }: VideoRequest, model: string): number {
  const seconds = durationSeconds ?? defaults.seconds;
  const lengths = lengthsOf(model);
  if (!lengths.includes(seconds)) throw wrongValue('duration', `must be ${joinChoices(lengths)} for this model`, String(seconds));
  return seconds;
}

function writeImage(input: VideoInput): JsonObject {
  if (input.kind === 'data') return { bytesBase64Encoded: input.base64, mimeType: input.mediaType };
  throw untranslatable('images', 'This model takes images in the request and no addresses: send a data URL.');
}

function writeInstance(request: VideoRequest): JsonObject {
  const { mode, prompt, images } = request;
  if (mode === 'remix' || mode === 'extension') throw untranslatable('video', 'This model does not change videos here.');
  const written = images.map(writeImage);
  const [first] = written;
  if (first === undefined) return { prompt };
  if (mode === 'image') return { prompt, image: first };
  if (written.length > referencesMax)
    throw wrongValue('images', `must have at most ${referencesMax} items for this model`, String(written.length));
  return { prompt, referenceImages: written.map((image) => ({ image, referenceType: 'asset' })) };
}

/** The members of `metadata` that the service knows, as they were written, and the names of all others. */
function readExtra({ metadata, extraFields, user }: VideoRequest, { parameters }: Service) {
  const written = new Map<string, TextMember>();
  const ignored: string[] = user === undefined ? [] : ['user'];
  for (const member of listTextMembers(metadata)) {
    if (parameters.has(member.key)) written.set(member.key, rawMember(member.key, member.valueText));
    else if (isOwnField(member) || !['callback_url', 'metadata'].includes(member.key)) ignored.push(`metadata.${member.key}`);
  }
  ignored.push(...(extraFields === undefined ? [] : listTextMembers(extraFields).map(({ key }) => key)));
  return { written, ignored };
}

function encodeSubmission(
  request: VideoRequest,
  upstreamModel: string,
  service: Service,
  { videoBucket }: VideoAccount = {},
): VideoSubmission {
  const resolution = requireOneOf('resolution', request.resolution ?? defaults.resolution, Object.keys(resolutionWords));
  // The second generation has one resolution, and no field for it.
  if (isSecond(upstreamModel) && resolution !== defaults.resolution)
    throw wrongValue('resolution', 'must be 720p for this model', resolution);
  const { written, ignored } = readExtra(request, service);
  const required = Object.entries(service.required(upstreamModel)).filter(([key]) => !written.has(key));
  const parameters = [
    textMember('durationSeconds', chooseSeconds(request, upstreamModel)),
    textMember('aspectRatio', requireOneOf('aspect_ratio', request.aspectRatio ?? defaults.aspectRatio, ratios)),
    ...(isSecond(upstreamModel) ? [] : [textMember('resolution', resolutionWords[resolution] ?? resolution)]),
    textMember('sampleCount', 1),
    ...(videoBucket === undefined ? [] : [textMember('storageUri', videoBucket.uri)]),
    ...required.map(([key, value]) => textMember(key, value)),
    ...written.values(),
  ];
  return finishSubmission({
    path: ':predictLongRunning',
    members: [textMember('instances', [writeInstance(request)]), rawMember('parameters', writeTextObject(parameters))],
    ignored,
    bill: (sent) => {
      const word = textOf(sent.read('parameters', 'resolution')) ?? defaults.resolution;
      const lines = Object.entries(resolutionWords).find(([, each]) => each === word)?.[0] ?? '2160p';
      const samples = Number(sent.read('parameters', 'sampleCount') ?? Number.NaN);
      return billOf(Number(sent.read('parameters', 'durationSeconds')) * 1000 * samples, request.images.length, lines);
    },
  });
}

/** Words of refusals by the vendor's filters, which have no code of their own. */
const filterWords = /usage guidelines|safety|sensitive|responsible ai|prominent people|blocked/i;

/** Reads an operation. `readResult` reads its response. */
function readOperation(operation: JsonObject, readResult: (response: JsonObject) => UpstreamVideo): UpstreamVideo {
  const { done, error, response, metadata } = operation;
  if (filledText(operation['name']) === undefined) return unclear('the upstream returned no operation');
  const words = readErrorText({ error });
  if (done === true && Object.keys(membersOf(error)).length > 0) {
    const failure = filterWords.test(words.message) ? { ...moderationError, message: words.message } : readFailure(words);
    return { status: 'failed', error: failure, isBilled: false };
  }
  if (done === true) return readResult(membersOf(response));
  const progress = readProgress(membersOf(metadata)['progressPercent']);
  return { status: 'in_progress', ...withProgress(progress) };
}

/** Videos that the filter withheld are not billed. Undefined if it withheld none. */
function readWithheld(response: JsonObject): UpstreamVideo | undefined {
  const [reason] = textsOf(response['raiMediaFilteredReasons']);
  if ((countOf(response['raiMediaFilteredCount']) ?? 0) === 0 && reason === undefined) return undefined;
  return {
    status: 'failed',
    error: { ...moderationError, ...(reason === undefined ? {} : { message: reason.slice(0, 500) }) },
    isBilled: false,
  };
}

function readSubmission(
  reply: Parameters<VideoProtocol['readSubmission']>[0],
  isName: RegExp,
): ReturnType<VideoProtocol['readSubmission']> {
  return readSubmissionWith(reply, (body) => {
    const upstreamTaskId = taskIdOf(body.name);
    return upstreamTaskId === undefined || !isName.test(upstreamTaskId) ? undefined : { upstreamTaskId, video: { status: 'queued' } };
  });
}

const common = ['negativePrompt', 'personGeneration', 'enhancePrompt'] as const;

const geminiService: Service = {
  id: 'gemini-videos',
  parameters: new Set(common),
  required: () => ({}),
};

const geminiOperation = /^models\/[\w.-]+\/operations\/[\w.-]+$/;

/** Veo at the Gemini API: the finished file has an address of the service, which needs the key. */
export const geminiVideos: VideoProtocol = {
  id: 'gemini-videos',
  isIdempotent: false,
  encodeSubmission: (request, upstreamModel) => encodeSubmission(request, upstreamModel, geminiService),
  readSubmission: (reply) => readSubmission(reply, geminiOperation),
  statusPath: (name) => `/v1beta/${geminiOperation.test(name) ? name : encodeURIComponent(name)}`,
  readStatus: (reply) =>
    readStatusWith(reply, (body) =>
      readOperation(body, (response) => {
        const made = membersOf(response['generateVideoResponse']);
        const url = filledText(membersOf(objectsOf(made['generatedSamples'])[0]?.['video'])['uri']);
        if (url !== undefined && /^https?:\/\//.test(url)) return { status: 'completed', result: { kind: 'url', url } };
        return readWithheld(made) ?? unclear('the upstream reports a finished video without an address');
      }),
    ),
};

const vertexService: Service = {
  id: 'vertex-videos',
  parameters: new Set([...common, 'seed', 'generateAudio', 'compressionQuality', 'resizeMode']),
  // Later generations require the choice. The usual price is that with sound.
  required: (model) => (isSecond(model) ? {} : { generateAudio: true }),
};

const vertexOperation = /^(projects\/[\w.:-]+\/locations\/[\w-]+\/publishers\/google\/models\/[\w.@-]+)\/operations\/[\w.-]+$/;

const writeFetch = (name: string): Buffer => Buffer.from(JSON.stringify({ operationName: name }));

const fetchPath = (name: string): string => `/v1beta1/${vertexOperation.exec(name)?.[1] ?? encodeURIComponent(name)}:fetchPredictOperation`;

/** Veo at Vertex AI: the finished operation contains the file in base64, or its place in a bucket. */
export const vertexVideos: VideoProtocol = {
  id: 'vertex-videos',
  isIdempotent: false,
  encodeSubmission: (request, upstreamModel, account) => encodeSubmission(request, upstreamModel, vertexService, account),
  readSubmission: (reply) => readSubmission(reply, vertexOperation),
  statusPath: fetchPath,
  statusBody: writeFetch,
  statusHasFile: true,
  readStatus: (reply, name) =>
    readStatusWith(reply, (body) =>
      readOperation(body, (response) => {
        const [video] = objectsOf(response['videos']);
        if (video !== undefined && 'bytesBase64Encoded' in video) {
          const body = writeFetch(name).toString();
          return { status: 'completed', result: { kind: 'reply', path: fetchPath(name), body, member: 'bytesBase64Encoded' } };
        }
        const uri = filledText(video?.['gcsUri']);
        if (uri !== undefined && /^gs:\/\/[^/]+\/./.test(uri)) return { status: 'completed', result: { kind: 'object', uri } };
        return readWithheld(response) ?? unclear('the upstream reports a finished video without a file');
      }),
    ),
};
