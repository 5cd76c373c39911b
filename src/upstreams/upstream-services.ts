import Type, { type TSchema } from 'typebox';

import type { RerankInterface } from '../dialects/rerank/write-rerank-request.ts';
import type { VideoProtocolId } from '../dialects/video-tasks/video-protocol.ts';
import type { ModelKind } from '../inference/interfaces.ts';
import { type AudioQuirks, applyAudioQuirks, audioQuirksSchema, type AudioService } from './audio-service.ts';
import type { ImageInterface } from './image-interfaces.ts';

/** What an upstream offers beside chats. A service that is absent is not there. */
export type UpstreamServices = {
  /** Where embeddings are made in OpenAI's form, below the base address. */
  readonly embeddings?: string | undefined;
  /** How pictures of a model are made, by its name there. */
  readonly images?: ((upstreamModel: string) => ImageInterface) | undefined;
  /** Where sound is made and read in OpenAI's form, and what is otherwise there. */
  readonly audio?: AudioService | undefined;
  /** How videos are made. */
  readonly videos?: VideoProtocolId | undefined;
  /** In which interface documents are ranked. */
  readonly rerank?: RerankInterface | undefined;
  /** Where content is judged in OpenAI's form, below the base address. */
  readonly moderations?: string | undefined;
};

/** What a call for a model of a kind needs of an upstream. */
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

/** Whether an upstream has what calls for models of a kind need. */
export function servesKind(offered: UpstreamServices, kind: ModelKind): boolean {
  return needs[kind](offered);
}

/** What an operator says of a server's services, by their names. */
export type ServiceQuirks = {
  readonly audio?: AudioQuirks;
  readonly videos?: Extract<VideoProtocolId, 'video-generations' | 'openai-videos'>;
  readonly rerank?: RerankInterface;
  readonly moderations?: boolean;
};

/** How it is written. */
export const serviceQuirkFields = {
  audio: Type.Optional(audioQuirksSchema),
  videos: Type.Optional(
    Type.Enum(['video-generations', 'openai-videos'], {
      description:
        "The interface in which it makes videos: that of /v1/video/generations, as another Weir has it, or OpenAI's /v1/videos. Default: it makes none, unless its vendor does.",
    }),
  ),
  rerank: Type.Optional(
    Type.Enum(['cohere', 'jina', 'voyage', 'vllm'], {
      description:
        "The interface in which it ranks documents: Cohere's v2, Jina's, Voyage's, or that of vLLM and servers like it, which is Jina's with fewer fields. Default: it ranks none.",
    }),
  ),
  moderations: Type.Optional(Type.Boolean({ description: "Whether it judges content at /moderations in OpenAI's form." })),
} satisfies Record<keyof ServiceQuirks, TSchema>;

type QuirkName = keyof ServiceQuirks;

/** What becomes of a service where something is said of it. */
const apply: {
  readonly [Name in QuirkName]: (said: NonNullable<ServiceQuirks[Name]>, offered: UpstreamServices[Name]) => UpstreamServices[Name];
} = {
  audio: applyAudioQuirks,
  videos: (said) => said,
  rerank: (said) => said,
  moderations: (said, offered) => (said ? (offered ?? '/moderations') : undefined),
};

/** Lays what is said of services over what an upstream offers. */
export function applyServiceQuirks(offered: UpstreamServices, quirks: ServiceQuirks = {}): UpstreamServices {
  const laid = <Name extends QuirkName>(name: Name): readonly (readonly [Name, UpstreamServices[Name]])[] => {
    const said = quirks[name];
    return said === undefined ? [] : [[name, apply[name](said, offered[name])]];
  };
  // The keys are those of the table.
  return { ...offered, ...Object.fromEntries((Object.keys(apply) as QuirkName[]).flatMap((name) => laid(name))) };
}
