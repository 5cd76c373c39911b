import { renderVideo } from '../media/render-video.ts';
import { asText, isRecord, recordsOf } from '../read-json.ts';
import type { Json, JsonRecord, VendorError } from '../simulated-vendor.ts';
import { refuse } from '../vendors/gemini/gemini-error.ts';
import { lookAtImage } from './read-inputs.ts';
import { linkOf, type JsonAnswer, type VideoCall, type VideoReply, type VideoRoutes } from './video-call.ts';
import { standingOf, type VideoJob, type VideoStanding } from './video-jobs.ts';
import { ratioOf, shapeOf } from './video-shape.ts';

/** Veo at one of the two services. */
type Service = {
  readonly name: 'gemini-videos' | 'vertex-videos';
  readonly parameters: readonly string[];
  /** The resource of a model, below the version. */
  readonly modelOf: (path: string) => { readonly resource: string; readonly model: string; readonly method: string } | undefined;
  /** Whether later models demand that the client chooses the sound. */
  readonly demandsSound: boolean;
  readonly takesLinks: boolean;
};

const common = ['sampleCount', 'durationSeconds', 'aspectRatio', 'resolution', 'personGeneration', 'negativePrompt', 'enhancePrompt'];
const lines: Readonly<Record<string, number>> = { '720p': 720, '1080p': 1080, '4k': 2160 };
const referencesMax = 3;

const geminiService: Service = {
  name: 'gemini-videos',
  parameters: common,
  modelOf: (path) => {
    const [, resource = '', model = '', method = ''] = /^\/v1(?:beta|alpha)?\/(models\/([\w.-]+)):(\w+)$/.exec(path) ?? [];
    return resource === '' ? undefined : { resource, model, method };
  },
  demandsSound: false,
  takesLinks: false,
};

const vertexService: Service = {
  name: 'vertex-videos',
  parameters: [...common, 'storageUri', 'fps', 'seed', 'pubsubTopic', 'generateAudio', 'compressionQuality', 'resizeMode'],
  modelOf: (path) => {
    const [, resource = '', model = '', method = ''] =
      /^\/v1(?:beta1)?\/(projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/([\w.@-]+)):(\w+)$/.exec(path) ?? [];
    return resource === '' ? undefined : { resource, model, method };
  },
  demandsSound: true,
  takesLinks: true,
};

function readInputImage(image: Json | undefined, { takesLinks }: Service): { readonly note: string; readonly ratio?: number } {
  const { bytesBase64Encoded: data, mimeType, gcsUri } = isRecord(image) ? image : {};
  if (takesLinks && typeof gcsUri === 'string' && gcsUri.startsWith('gs://')) return { note: `image at ${gcsUri}, not fetched` };
  if (typeof data !== 'string' || typeof mimeType !== 'string') throw refuse('image: bytesBase64Encoded and mimeType are required.');
  const look = lookAtImage(`data:${mimeType};base64,${data}`);
  if (look === undefined) throw refuse('Unable to process input image.');
  return look;
}

function readParameters(body: JsonRecord, service: Service, model: string) {
  const parameters = isRecord(body['parameters']) ? body['parameters'] : {};
  const unknown = Object.keys(parameters).find((name) => !service.parameters.includes(name));
  if (unknown !== undefined)
    throw refuse(`\`${unknown}\` isn't supported by this model. Please remove it or refer to the Veo API documentation.`);
  const isSecond = model.startsWith('veo-2');
  const { sampleCount = 1, durationSeconds = 8, aspectRatio = '16:9', resolution = '720p', generateAudio } = parameters;
  const lengths = isSecond ? [5, 6, 7, 8] : [4, 6, 8];
  if (typeof durationSeconds !== 'number' || !lengths.includes(durationSeconds))
    throw refuse(`The number value for \`durationSeconds\` is out of bound. Supported durations are ${lengths.join(', ')}.`);
  if (sampleCount !== 1) throw refuse('sampleCount: the simulator makes one video per request.');
  const edge = lines[asText(resolution)];
  if (edge === undefined || (isSecond && parameters['resolution'] !== undefined))
    throw refuse(`\`resolution\` ${asText(resolution)} isn't supported.`);
  if (aspectRatio !== '16:9' && aspectRatio !== '9:16') throw refuse(`Unsupported aspect ratio: ${asText(aspectRatio)}.`);
  if (service.demandsSound && !isSecond && typeof generateAudio !== 'boolean') throw refuse('generateAudio must be set for this model.');
  const { storageUri: bucket } = parameters;
  if (bucket !== undefined && !(typeof bucket === 'string' && bucket.startsWith('gs://')))
    throw refuse('storageUri must be a Cloud Storage URI.');
  return { seconds: durationSeconds, edge, ratio: aspectRatio, bucket };
}

function submit(call: VideoCall, service: Service, { resource, model }: { readonly resource: string; readonly model: string }): VideoReply {
  if (!model.startsWith('veo')) throw refuse(`${model} is not supported for predictLongRunning.`, 404);
  const { fields } = call;
  const instances = recordsOf(fields['instances']);
  const [instance = {}] = instances;
  const prompt = asText(instance['prompt']);
  if (instances.length !== 1) throw refuse('Exactly one instance is required.');
  const unknown = Object.keys(instance).find((name) => !['prompt', 'image', 'lastFrame', 'referenceImages', 'video'].includes(name));
  if (unknown !== undefined) throw refuse(`Invalid instance: unknown field ${unknown}.`);
  if (prompt === '' && instance['image'] === undefined) throw refuse('A prompt or an image is required.');
  const { seconds, edge, ratio, bucket } = readParameters(fields, service, model);
  const references = recordsOf(instance['referenceImages']);
  if (references.length > referencesMax) throw refuse(`At most ${referencesMax} reference images are supported.`);
  const images = [...(instance['image'] === undefined ? [] : [instance['image']]), ...references.map(({ image }) => image)];
  const inputs = images.map((image) => readInputImage(image, service).note);
  return {
    type: 'accept',
    order: {
      id: call.newId(),
      interface: service.name,
      model,
      prompt,
      inputs,
      imageCount: inputs.length,
      shape: shapeOf(seconds, edge, ratioOf(ratio)),
      ...(bucket !== undefined && { bucket }),
    },
    isIdempotent: false,
    write: (job) => ({ status: 200, body: { name: `${resource}/operations/${job.id}` } }),
  };
}

/** An operation, with the response of its service if the video is there. */
function writeOperation(job: VideoJob, name: string, standing: VideoStanding, written: (response: JsonRecord) => JsonRecord): JsonAnswer {
  const answer = (body: JsonRecord): JsonAnswer => ({ status: 200, body: { name, ...body } });
  const { message } = job.script;
  switch (standing.phase) {
    case 'queued':
    case 'working':
      return answer({});
    case 'failed':
      return answer({ done: true, error: { code: 13, message: message ?? 'Video generation failed due to an internal server issue.' } });
    case 'expired':
      return answer({ done: true, error: { code: 4, message: 'Deadline exceeded.' } });
    case 'moderated': {
      const reason =
        message ?? "Veo could not generate the video because the prompt or the result violates Google's Responsible AI practices.";
      return answer({ done: true, response: written({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: [reason] }) });
    }
    case 'done':
      return answer({ done: true, response: written({}) });
  }
}

function findJob(call: VideoCall, service: Service, id: string): VideoJob {
  const job = call.jobs.get(id);
  if (job === undefined || job.interface !== service.name) throw notFound();
  return job;
}

function notFound(): VendorError {
  return refuse('Operation not found.', 404);
}

/** `:predictLongRunning`, operations and files of the Gemini API. */
export const routeGeminiVideos: VideoRoutes = (call) => {
  const { method, path } = call.request;
  const submitted = geminiService.modelOf(path);
  if (method === 'POST' && submitted?.method === 'predictLongRunning') return submit(call, geminiService, submitted);
  if (method !== 'GET') return undefined;
  const file = /^\/v1beta\/files\/([\w-]+):download$/.exec(path)?.[1];
  if (file !== undefined) return { type: 'file', job: findJob(call, geminiService, file) };
  const [, name = '', id = ''] = /^\/v1beta\/(models\/[\w.-]+\/operations\/([\w-]+))$/.exec(path) ?? [];
  if (id === '') return undefined;
  const job = findJob(call, geminiService, id);
  const uri = linkOf(job, `${call.origin}/v1beta/files/${job.id}:download?alt=media`);
  const video = uri === undefined ? {} : { video: { uri } };
  const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
  const respond = (more: JsonRecord): JsonRecord => ({
    '@type': type,
    generateVideoResponse: Object.keys(more).length > 0 ? more : { generatedSamples: [video] },
  });
  return { type: 'poll', job, write: (standing) => writeOperation(job, name, standing, respond) };
};

/**
 * `:predictLongRunning` and `:fetchPredictOperation` of Vertex AI.
 * @param keep writes a file into a bucket
 */
export const createVertexVideoRoutes =
  (keep: (uri: string, file: Uint8Array) => void): VideoRoutes =>
  (call) =>
    routeVertexVideos(call, keep);

async function routeVertexVideos(call: VideoCall, keep: (uri: string, file: Uint8Array) => void): Promise<VideoReply | undefined> {
  const asked = call.request.method === 'POST' ? vertexService.modelOf(call.request.path) : undefined;
  if (asked?.method === 'predictLongRunning') return submit(call, vertexService, asked);
  if (asked?.method !== 'fetchPredictOperation') return undefined;
  const name = asText(call.fields['operationName']);
  if (!name.startsWith(`${asked.resource}/operations/`)) throw refuse(`The operation ${name} does not belong to the model.`);
  const job = findJob(call, vertexService, name.slice(`${asked.resource}/operations/`.length));
  const { prompt, model, inputs, shape } = job;
  const isDone = standingOf(job, call.nowMs).phase === 'done';
  const file = isDone
    ? await renderVideo({ model, prompt: prompt.replace(/\[\[simulator [^\]]*\]\]/g, ' '), inputs, ...shape })
    : new Uint8Array();
  if (isDone) job.downloads += 1;
  const gcsUri = job.bucket === undefined ? undefined : `${job.bucket.replace(/\/$/, '')}/${job.id}/sample_0.mp4`;
  if (isDone && gcsUri !== undefined) keep(gcsUri, file);
  const place = gcsUri === undefined ? { bytesBase64Encoded: Buffer.from(file).toString('base64') } : { gcsUri };
  const respond = (more: JsonRecord): JsonRecord => ({
    '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse',
    raiMediaFilteredCount: 0,
    ...(Object.keys(more).length > 0 ? more : { videos: [{ ...place, mimeType: 'video/mp4' }] }),
  });
  return { type: 'poll', job, write: (standing) => writeOperation(job, name, standing, respond) };
}
