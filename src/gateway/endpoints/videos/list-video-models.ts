import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { VideoProtocolId } from '../../../dialects/video-tasks/video-protocol.ts';
import type { VideoMode } from '../../../inference/video.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { mayReach } from '../../attempts/routing/rank-targets.ts';
import type { RoutingTable } from '../../attempts/routing/routing-table.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { contractModel, routedName } from './create/rank-video-targets.ts';
import type { VideoHandler } from './video-context.ts';

/** The options of an upstream interface. Sources: video.md, sections 2 and 3. */
type Abilities = {
  readonly modes: readonly VideoMode[];
  readonly durations: { readonly min: number; readonly max: number; readonly default: number; readonly values?: readonly number[] };
  readonly resolutions: readonly string[];
  readonly aspectRatios: readonly string[];
};

/** Veo of the third generation. */
const google: Abilities = {
  modes: ['text', 'image', 'references'],
  durations: { min: 4, max: 8, default: 8, values: [4, 6, 8] },
  resolutions: ['720p', '1080p'],
  aspectRatios: ['16:9', '9:16'],
};

const abilities: Readonly<Record<VideoProtocolId, Abilities>> = {
  'xai-videos': {
    modes: ['text', 'image', 'references', 'remix', 'extension'],
    durations: { min: 1, max: 15, default: 5 },
    resolutions: ['480p', '720p'],
    aspectRatios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'],
  },
  'openai-videos': {
    modes: ['text', 'image', 'remix'],
    durations: { min: 4, max: 12, default: 4, values: [4, 8, 12] },
    resolutions: ['720p'],
    aspectRatios: ['16:9', '9:16'],
  },
  'gemini-videos': google,
  'vertex-videos': google,
  'video-generations': {
    modes: ['text', 'image', 'remix'],
    durations: { min: 1, max: 15, default: 5 },
    resolutions: ['480p', '720p'],
    aspectRatios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'],
  },
};

/** Resolutions that price books contain. */
const knownResolutions = ['360p', '480p', '540p', '720p', '1024p', '1080p', '1440p', '2160p'];

type VideoModel = { readonly id: string; readonly target: Target; readonly protocol: VideoProtocolId };

/** The video models: those whose first video target has a price per second, or that only the operator knows. */
function findVideoModels(table: RoutingTable, priceBook: PriceBook, nowMs: number): readonly VideoModel[] {
  const names = [...new Set([contractModel, ...table.models.map(({ id }) => id)])];
  return names.flatMap((id): readonly VideoModel[] => {
    for (const target of table.targetsOf(routedName(table, id))) {
      const protocol = target.upstream.services.videos;
      if (protocol === undefined) continue;
      const isPriced = priceOfSecond(priceBook, { id, target, nowMs }, undefined) !== undefined;
      // A vendor's list contains chat models too; the video interface of a compatible server serves configured models
      // only.
      const isListed = priceBook.lists(target.upstream.vendor.id, target.upstreamModel);
      return isPriced || (!isListed && protocol === 'video-generations') ? [{ id, target, protocol }] : [];
    }
    return [];
  });
}

type Priced = { readonly id: string; readonly target: Target; readonly nowMs: number };

function linesOf(
  priceBook: PriceBook,
  { id, target, nowMs }: Priced,
  usage: Parameters<PriceBook['rate']>[0]['usage'],
  resolution: string | undefined,
) {
  const { upstream, upstreamModel } = target;
  const pricingParameters = resolution === undefined ? undefined : { resolution };
  return priceBook.rate({ vendor: upstream.vendor.id, upstreamModel, requestedModel: id, acceptedAtMs: nowMs, usage, pricingParameters })
    .lines;
}

/** USD per second; undefined if the price book has no price for the resolution. */
function priceOfSecond(priceBook: PriceBook, priced: Priced, resolution: string | undefined): string | undefined {
  const line = linesOf(priceBook, priced, { outputVideoMs: 1000 }, resolution).find(({ meter }) => meter.startsWith('video_ms:'));
  return line !== undefined && (resolution === undefined || line.meter === `video_ms:${resolution}`) ? line.unitPrice : undefined;
}

function encodeModel({ id, target, protocol }: VideoModel, priceBook: PriceBook, nowMs: number): JsonObject {
  const { modes, durations, resolutions, aspectRatios } = abilities[protocol];
  const priced = { id, target, nowMs };
  const prices = knownResolutions.flatMap((resolution) => {
    const price = priceOfSecond(priceBook, priced, resolution);
    return price === undefined ? [] : [[resolution, price] as const];
  });
  const image = linesOf(priceBook, priced, { inputImages: 1 }, undefined).find(({ meter }) => meter === 'input_image')?.unitPrice;
  const perSecond: JsonObject = Object.fromEntries(prices);
  return {
    id,
    object: 'video.model',
    owned_by: target.upstream.vendor.id,
    modes: [...modes],
    duration_seconds: { ...durations, ...(durations.values === undefined ? {} : { values: [...durations.values] }) },
    resolutions: [...new Set([...resolutions, ...prices.map(([resolution]) => resolution)])],
    aspect_ratios: [...aspectRatios],
    prices: { currency: 'USD', per_second: perSecond, per_input_image: image ?? null, version: priceBook.version },
  };
}

/** `GET /v1/videos/models`: the video models that the caller may use, with their options and prices. */
export const listVideoModels: VideoHandler = (context) => {
  const { settings, caller, gateway } = context;
  const { routing } = settings;
  const nowMs = gateway.clock.nowMs();
  const models = findVideoModels(routing, routing.priceBook, nowMs).filter(({ id }) => mayReach(caller, routing, id));
  const data = models.map((model) => encodeModel(model, routing.priceBook, nowMs));
  return Promise.resolve({ status: 200, text: JSON.stringify({ object: 'list', data }) });
};
