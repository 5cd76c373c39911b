import type { StreamedBody } from '../platform/http/upstream-connection.ts';
import type { JsonValue } from '../platform/json/json-value.ts';
import type { UsageReport } from './usage.ts';

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export type ImageSize = { readonly width: number; readonly height: number };

/** A picture that a request brings: its bytes as base64, its address, an id of the vendor's, or a file of a form that is read when it is sent. */
export type ImageInput =
  | { readonly kind: 'inline'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly fileId: string }
  | { readonly kind: 'upload'; readonly filename: string; readonly mediaType: string; readonly content: StreamedBody };

/** What pictures are asked for, in no vendor's words. An absent member is the upstream's to choose. */
export type ImageRequest = {
  readonly operation: 'generate' | 'edit';
  readonly requestedModel: string;
  readonly prompt: string;
  readonly count: number;
  /** In pixels; absent for `auto`. */
  readonly size?: ImageSize;
  /** `16:9`, where the client names a shape and no size. */
  readonly aspectRatio?: string;
  /** The class of the size: `1k`, `2k`, `4k`. */
  readonly resolution?: string;
  readonly quality?: 'low' | 'medium' | 'high' | 'standard' | 'hd';
  readonly background?: 'transparent' | 'opaque';
  readonly outputFormat?: ImageFormat;
  /** 0 to 100. */
  readonly outputCompression?: number;
  readonly moderation?: 'low';
  readonly style?: 'vivid' | 'natural';
  readonly inputFidelity?: 'high' | 'low';
  readonly delivery?: 'url' | 'base64';
  readonly stream: boolean;
  /** Unfinished pictures that a stream shows first. */
  readonly partialImages: number;
  /** What an edit starts from. */
  readonly sources: readonly ImageInput[];
  /** Where its first source may be changed. */
  readonly mask?: ImageInput;
  readonly endUser?: string;
  /** Fields without a neutral name, as the client wrote them. */
  readonly otherFields: Readonly<Record<string, JsonValue>>;
};

/** A picture that was made. */
export type GeneratedImage = {
  readonly content:
    | { readonly kind: 'inline'; readonly mediaType: string | undefined; readonly data: string }
    | { readonly kind: 'url'; readonly url: string };
  readonly revisedPrompt?: string;
};

/** How pictures were made, as far as the upstream says. */
export type ImageSettings = {
  readonly createdAtSeconds?: number;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly outputFormat?: string;
};

export type ImageReply = {
  readonly images: readonly GeneratedImage[];
  readonly settings: ImageSettings;
  /** Tokens by kind where the upstream counts them, else pictures by the piece. */
  readonly usage: UsageReport;
  readonly servedModel?: string;
  /** Why pictures that were asked for are not here, one for each reason that was given. */
  readonly withheld: readonly string[];
};

/** What a stream of pictures says. */
export type ImageEvent =
  | { readonly kind: 'partial'; readonly index: number; readonly image: GeneratedImage; readonly settings: ImageSettings }
  | { readonly kind: 'completed'; readonly image: GeneratedImage; readonly settings: ImageSettings; readonly usage?: UsageReport };
