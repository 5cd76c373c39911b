import type { StreamReport } from '../../../dialects/chat-dialect.ts';
import { readImageEvent, type UpstreamImageEvent, writeImageEvent } from '../../../dialects/openai-images/image-events.ts';
import type { ErrorInReply } from '../../../dialects/chat-dialect.ts';
import type { ImageEvent, ImageRequest, ImageSettings } from '../../../inference/image.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { Frame } from '../../../platform/frames.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { ChargedUsage, StreamRelay } from '../../attempts/exchange/reply-relay.ts';
import type { ImageClient } from '../shared/image-maker.ts';
import { type ChargedBy, countImages, type GeneratedImages, tokensOf } from './count-images.ts';

type Streamed = {
  readonly request: ImageRequest;
  readonly made: ImageInterface;
  readonly chargedBy: ChargedBy;
  readonly createdAtSeconds: number;
  readonly writeEvent?: ImageClient['writeEvent'];
  /** Computes the charged usage, which the client sees at the end. */
  readonly charged: ChargedUsage | undefined;
};

const nothing: readonly Buffer[] = [];
/** The characters per token of estimates: delivered output is reported in characters. */
const charactersPerToken = 4;

/** Opens a stream of images: reads and counts its events, and writes them with the charged usage. */
export function createImageStream(streamed: Streamed): StreamRelay {
  const stream = new ImageStream(streamed);
  return {
    read: (frame) => stream.read(frame),
    end: () => nothing,
    cut: () => nothing,
    state: () => stream.state(),
    hasContent: () => stream.framesSent > 0,
    report: () => stream.report(),
    endedEarly: () => false,
    // The last requested image ends the reply. If there are fewer, the end of the body does.
    get hasEndMark() {
      return stream.hasAll();
    },
    passesErrors: () => false,
    position: () => ({ framesSent: stream.framesSent }),
  };
}

class ImageStream {
  readonly #streamed: Streamed;
  framesSent = 0;
  #finished = 0;
  #partial = 0;
  #malformed = 0;
  #settings: ImageSettings = {};
  #reported: UsageReport | undefined;
  #failure: ErrorInReply | undefined;

  constructor(streamed: Streamed) {
    this.#streamed = streamed;
  }

  read(frame: Frame): readonly Buffer[] {
    if (this.#failure !== undefined || this.hasAll()) return nothing;
    const event = readImageEvent(frame.data);
    if (event.kind === 'partial' || event.kind === 'completed') return [this.#write(event)];
    this.#note(event);
    return nothing;
  }

  #note(event: Exclude<UpstreamImageEvent, ImageEvent>): void {
    if (event.kind === 'error') this.#failure = event.error;
    if (event.kind !== 'unclear') return;
    this.#malformed += 1;
    this.#failure = { message: 'an image event of the stream has no image', status: 502 };
  }

  #write(event: ImageEvent): Buffer {
    this.framesSent += 1;
    this.#settings = event.settings;
    const { charged } = this.#streamed;
    if (event.kind === 'partial') {
      this.#partial += 1;
      return this.#encode(event);
    }
    this.#finished += 1;
    if (event.usage !== undefined) this.#reported = event.usage;
    const { usage: _usage, ...picture } = event;
    const hasUsage = this.hasAll() || event.usage !== undefined;
    const usage = hasUsage ? (charged?.(this.report(), this.hasAll()) ?? this.#count()) : undefined;
    return this.#encode({ ...picture, ...(usage !== undefined && { usage }) });
  }

  #encode(event: ImageEvent): Buffer {
    const { request, createdAtSeconds, writeEvent } = this.#streamed;
    if (writeEvent !== undefined) return writeEvent(event, createdAtSeconds);
    return writeImageEvent(event, { operation: request.operation, createdAtSeconds });
  }

  hasAll(): boolean {
    return this.#finished >= this.#streamed.request.count;
  }

  /** A stream that reported its usage may end with fewer images than requested: the others were withheld. */
  state(): StreamReport['state'] {
    if (this.#failure !== undefined) return 'failed';
    return this.hasAll() || (this.#finished > 0 && this.#reported !== undefined) ? 'complete' : 'open';
  }

  report(): StreamReport {
    const usageReport = this.#count();
    const { request, made } = this.#streamed;
    return {
      state: this.state(),
      malformedFrames: this.#malformed,
      outputCharacters: tokensOf(this.#made(), request, made.counting === 'native' ? 'native' : 'by-size') * charactersPerToken,
      ...(usageReport !== undefined && { usageReport }),
      ...(this.#failure !== undefined && { error: this.#failure }),
    };
  }

  #made(): GeneratedImages {
    const sources = this.#streamed.request.sources.length;
    return { finished: this.#finished, partial: this.#partial, sources, settings: this.#settings, reported: this.#reported };
  }

  #count(): UsageReport | undefined {
    const { request, made, chargedBy } = this.#streamed;
    return countImages(this.#made(), request, made, chargedBy);
  }
}
