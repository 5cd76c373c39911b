import type { ErrorInReply, StreamReport } from '../../../dialects/chat-dialect.ts';
import { readAudioStreamEvent } from '../../../dialects/openai-audio/read-stream-event.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { Frame } from '../../../platform/frames.ts';
import type { StreamRelay } from '../../attempts/exchange/reply-relay.ts';

const nothing: readonly Buffer[] = [];

/**
 * Opens a stream of audio or text events. They pass unchanged while their usage is read.
 * @param kept must complete before the client sees a successful end
 */
export function openAudioStream(kept: StreamRelay['kept']): StreamRelay {
  const stream = new AudioStream();
  return {
    read: (frame) => [stream.read(frame)],
    end: () => nothing,
    cut: () => nothing,
    state: () => stream.state,
    hasContent: () => stream.framesSent > 0,
    report: () => stream.report(),
    deliveredCharacters: () => stream.textCharacters,
    endedEarly: () => false,
    // Servers with other events do not have the vendor's last event either.
    endsWithBody: () => stream.framesSent > 0 && !stream.isKnown,
    get hasEndMark() {
      return stream.state === 'complete';
    },
    passesErrors: () => stream.framesSent > 0,
    position: () => ({ framesSent: stream.framesSent }),
    ...(kept !== undefined && { kept }),
  };
}

class AudioStream {
  state: StreamReport['state'] = 'open';
  /** Whether any event had a type of the vendor. */
  isKnown = false;
  framesSent = 0;
  textCharacters = 0;
  #usageReport: UsageReport | undefined;
  #error: ErrorInReply | undefined;

  read({ data, bytes }: Frame): Buffer {
    const event = readAudioStreamEvent(data);
    if (event.kind === 'error') {
      this.state = 'failed';
      this.#error = event.error;
      return bytes;
    }
    if (data !== '') this.framesSent += 1;
    if (event.kind === 'other') return bytes;
    this.isKnown = true;
    if (event.kind === 'delta') this.textCharacters += event.textCharacters;
    else {
      this.state = 'complete';
      this.#usageReport = event.usage;
    }
    return bytes;
  }

  report(): StreamReport {
    return {
      state: this.state,
      malformedFrames: 0,
      // Audio has no text. A count of 1 reports that something was delivered.
      outputCharacters: Math.max(this.textCharacters, Math.min(this.framesSent, 1)),
      ...(this.#usageReport !== undefined && { usageReport: this.#usageReport }),
      ...(this.#error !== undefined && { error: this.#error }),
    };
  }
}
