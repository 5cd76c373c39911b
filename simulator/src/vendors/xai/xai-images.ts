import { writePlainImage } from '../../media/plain-image.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import { deriveId } from '../../seeded-random.ts';
import type { JsonRecord, MediaCall, MediaReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { serveImage, writeImageUrl } from '../openai/images.ts';
import { refuse } from '../openai/responses-error.ts';

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', '19.5:9', '9:19.5', '20:9', '9:20', 'auto'];
const fields = ['model', 'prompt', 'n', 'aspect_ratio', 'resolution', 'response_format'];
const editFields = [...fields, 'image', 'images'];
const sourcesMax = 5;
const countMax = 10;

/**
 * POST /v1/images/generations and /edits in this vendor's form, and the images at their addresses; undefined for every
 * other route.
 */
export function handleXaiImages(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> | undefined {
  const shown = serveImage(request);
  if (shown !== undefined) return Promise.resolve(shown);
  const isRoute = request.method === 'POST' && (request.path === '/v1/images/generations' || request.path === '/v1/images/edits');
  return isRoute ? answer(request, call) : undefined;
}

// oxlint-disable-next-line typescript/require-await -- what is refused rejects
async function answer(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> {
  const { body } = request;
  if (body === undefined) throw refuse('Failed to parse the request body as JSON.');
  const isEdit = request.path.endsWith('/edits');
  const unknown = Object.keys(body).find((name) => !(isEdit ? editFields : fields).includes(name));
  if (unknown !== undefined) throw refuse(`Argument not supported: ${unknown}`);
  const prompt = asText(body['prompt']);
  if (asText(body['model']) === '' || prompt === '')
    throw refuse('Failed to deserialize the JSON body into the target type: model and prompt are required.', { status: 422 });
  if (asText(body['model']).startsWith('missing-')) throw refuse(`The model ${asText(body['model'])} does not exist.`, { status: 404 });
  const { n: count = 1, aspect_ratio: ratio = '1:1', resolution = '1k' } = body;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || count > countMax)
    throw refuse(`n must be from 1 to ${countMax}.`);
  if (typeof ratio !== 'string' || !ratios.includes(ratio)) throw refuse('Unsupported aspect ratio.');
  if (resolution !== '1k' && resolution !== '2k') throw refuse('Unsupported resolution.');
  if (isEdit) checkSources(body);
  const steering = call.steer(prompt);
  if (steering.stop === 'refusal' || steering.stop === 'content-filter') throw refuse('Generated image rejected by content moderation.');
  const size = sizeOf(ratio, resolution === '2k' ? 2048 : 1024);
  const data = Array.from({ length: count }, (_, index): JsonRecord => {
    const name = deriveId(`${call.seed}/${prompt}/${index}`);
    if (body['response_format'] !== 'b64_json') return { url: writeImageUrl(request, { ...size, name, format: 'jpeg' }) };
    return { b64_json: writePlainImage({ ...size, format: 'jpeg', seed: name }).toString('base64') };
  });
  return { type: 'media', status: 200, headers: { 'content-type': 'application/json' }, frames: [JSON.stringify({ data })] };
}

function checkSources(body: JsonRecord): void {
  const sources = isRecord(body['image']) ? [body['image']] : recordsOf(body['images']);
  if (sources.length === 0 || sources.length > sourcesMax) throw refuse(`Between 1 and ${sourcesMax} images are required.`);
  if (sources.some(({ url }) => !/^(?:https?:|data:image\/)/.test(asText(url)))) throw refuse('Each image must have a url.');
}

function sizeOf(ratio: string, edge: number): { readonly width: number; readonly height: number } {
  const [wide = 1, high = 1] = ratio === 'auto' ? [1, 1] : ratio.split(':').map(Number);
  return wide >= high
    ? { width: edge, height: Math.round((edge * high) / wide) }
    : { width: Math.round((edge * wide) / high), height: edge };
}
