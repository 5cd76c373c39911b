import type { StreamedBody } from '../platform/http/upstream-connection.ts';
import type { JsonValue } from '../platform/json/json-value.ts';
import type { UsageReport } from './usage.ts';

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export type ImageSize = { readonly width: number; readonly height: number };

/**
 * An image in a request: its bytes as base64, its address, a vendor's file id, or an uploaded file, which is read while
 * it is sent.
 */
export type ImageInput =
  | { readonly kind: 'inline'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly fileId: string }
  | { readonly kind: 'upload'; readonly filename: string; readonly mediaType: string; readonly content: StreamedBody };

/** A request for images, independent of vendors. If a member is absent, the upstream chooses. */
export type ImageRequest = {
  readonly operation: 'generate' | 'edit';
  readonly requestedModel: string;
  readonly prompt: string;
  readonly count: number;
  /** In pixels. Absent for `auto`. */
  readonly size?: ImageSize;
  /** For example `16:9`, if the client names a ratio and no size. */
  readonly aspectRatio?: string;
  /** The size class: `1k`, `2k`, `4k`. */
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
  /** How many unfinished images a stream sends first. */
  readonly partialImages: number;
  /** The images that an edit begins with. */
  readonly sources: readonly ImageInput[];
  /** Where the first source may be changed. */
  readonly mask?: ImageInput;
  readonly endUser?: string;
  /** Fields without a neutral name, as the client wrote them. */
  readonly otherFields: Readonly<Record<string, JsonValue>>;
};

export type GeneratedImage = {
  readonly content:
    | { readonly kind: 'inline'; readonly mediaType: string | undefined; readonly data: string }
    | { readonly kind: 'url'; readonly url: string };
  readonly revisedPrompt?: string;
};

/** Settings of the generated images, as far as the upstream reports them. */
export type ImageSettings = {
  readonly createdAtSeconds?: number;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly outputFormat?: string;
};

/** An image as bytes, and how it was made. */
export type ShownImage = { readonly mediaType: string | undefined; readonly data: string; readonly settings: ImageSettings };

export type ImageReply = {
  readonly images: readonly GeneratedImage[];
  readonly settings: ImageSettings;
  /** Tokens by kind if the upstream counts them, otherwise the number of images. */
  readonly usage: UsageReport;
  readonly servedModel?: string;
  /** Why requested images are missing, once for each reason. */
  readonly withheld: readonly string[];
  /** True if a filter of the vendor withheld one. */
  readonly isFiltered?: boolean;
};

/** An event of a stream of images. */
export type ImageEvent =
  | { readonly kind: 'partial'; readonly index: number; readonly image: GeneratedImage; readonly settings: ImageSettings }
  | { readonly kind: 'completed'; readonly image: GeneratedImage; readonly settings: ImageSettings; readonly usage?: UsageReport };
