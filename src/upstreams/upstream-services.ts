import Type, { type TSchema } from 'typebox';

import type { RerankInterface } from '../dialects/rerank/write-rerank-request.ts';
import type { VideoProtocolId } from '../dialects/video-tasks/video-protocol.ts';
import type { ModelKind } from '../inference/interfaces.ts';
import { type AudioQuirks, applyAudioQuirks, audioQuirksSchema, type AudioService } from './audio-service.ts';
import type { EmbeddingInterface } from './embedding-interfaces.ts';
import type { ImageInterface } from './image-interfaces.ts';

/** The services of an upstream other than chats. Absent: it does not have the service. */
export type UpstreamServices = {
  /** The embedding interface of a model, by its name at the upstream. */
  readonly embeddings?: ((upstreamModel: string) => EmbeddingInterface) | undefined;
  /** The image interface of a model, by its name at the upstream. */
  readonly images?: ((upstreamModel: string) => ImageInterface) | undefined;
  /** Audio in OpenAI's form, and its differences. */
  readonly audio?: AudioService | undefined;
  /** The interface for videos. */
  readonly videos?: VideoProtocolId | undefined;
  /** The interface for rankings of documents. */
  readonly rerank?: RerankInterface | undefined;
  /** The path for moderations in OpenAI's form, below the base address. */
  readonly moderations?: string | undefined;
};

/** The service that a call for a kind of model needs. */
const needs: Readonly<Record<ModelKind, (offered: UpstreamServices) => boolean>> = {
  // Every upstream speaks a dialect.
  chat: () => true,
  embeddings: ({ embeddings }) => embeddings !== undefined,
  image: ({ images }) => images !== undefined,
  speech: ({ audio }) => audio?.speech !== undefined,
  transcription: ({ audio }) => (audio?.transcriptions ?? audio?.translations) !== undefined,
  video: ({ videos }) => videos !== undefined,
  rerank: ({ rerank }) => rerank !== undefined,
  moderation: ({ moderations }) => moderations !== undefined,
};

/** Whether an upstream has the services for a kind of model. */
export function servesKind(offered: UpstreamServices, kind: ModelKind): boolean {
  return needs[kind](offered);
}

/** The operator's settings for the services of a server. */
export type ServiceQuirks = {
  readonly audio?: AudioQuirks;
  readonly videos?: Extract<VideoProtocolId, 'video-generations' | 'openai-videos'>;
  readonly rerank?: RerankInterface;
  readonly moderations?: boolean;
};

/** The configuration of these settings. */
export const serviceQuirkFields = {
  audio: Type.Optional(audioQuirksSchema),
  videos: Type.Optional(
    Type.Enum(['video-generations', 'openai-videos'], {
      description:
        "The interface in which it makes videos: that of /v1/video/generations, as another Weir has it, or OpenAI's /v1/videos. Default: that of its vendor, if there is one.",
    }),
  ),
  rerank: Type.Optional(
    Type.Enum(['cohere', 'jina', 'voyage', 'vllm'], {
      description:
        "The interface in which it ranks documents: Cohere's v2, Jina's, Voyage's, or that of vLLM and similar servers, which is Jina's with fewer fields. Default: none.",
    }),
  ),
  moderations: Type.Optional(Type.Boolean({ description: "Whether it moderates content at /moderations in OpenAI's form." })),
} satisfies Record<keyof ServiceQuirks, TSchema>;

type QuirkName = keyof ServiceQuirks;

/** How each setting changes a service. */
const apply: {
  readonly [Name in QuirkName]: (setting: NonNullable<ServiceQuirks[Name]>, offered: UpstreamServices[Name]) => UpstreamServices[Name];
} = {
  audio: applyAudioQuirks,
  videos: (setting) => setting,
  rerank: (setting) => setting,
  moderations: (setting, offered) => (setting ? (offered ?? '/moderations') : undefined),
};

/** Applies an operator's settings to the services of an upstream. */
export function applyServiceQuirks(offered: UpstreamServices, quirks: ServiceQuirks = {}): UpstreamServices {
  const laid = <Name extends QuirkName>(name: Name): readonly (readonly [Name, UpstreamServices[Name]])[] => {
    const setting = quirks[name];
    return setting === undefined ? [] : [[name, apply[name](setting, offered[name])]];
  };
  // The keys are those of the table.
  return { ...offered, ...Object.fromEntries((Object.keys(apply) as QuirkName[]).flatMap((name) => laid(name))) };
}
