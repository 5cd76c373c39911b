import { asCount, asObject, asText, dataOf, type JsonObject } from './conversation.ts';
import { createStore } from './create-store.ts';
import { createEventReader } from './read-events.ts';
import { relay } from './relay.ts';

/** The state of the video that is being made. */
export type VideoState = {
  readonly id: string;
  readonly keyId: string;
  readonly status: string;
  readonly progress: number;
  readonly error: string | undefined;
  /** The file in this tab, when it is ready. */
  readonly address: string | undefined;
  readonly isDeleted: boolean;
};

export const videoState = createStore<VideoState | undefined>(undefined);

const readState = (video: JsonObject): Pick<VideoState, 'status' | 'progress' | 'error'> => ({
  status: asText(video['status']),
  progress: asCount(video['progress']) ?? 0,
  error: asText(asObject(video['error'])['message']) || undefined,
});

const change = (next: Partial<VideoState>): void => videoState.change((before) => before && { ...before, ...next });

/** Follows a video to its end by its events, and fetches its file. */
export async function followVideo(video: JsonObject, keyId: string, signal: AbortSignal): Promise<void> {
  const before = videoState.get()?.address;
  if (before !== undefined) URL.revokeObjectURL(before);
  const id = asText(video['id']);
  videoState.change(() => ({ id, keyId, ...readState(video), address: undefined, isDeleted: false }));
  const path = `/v1/videos/${encodeURIComponent(id)}`;
  const response = await relay({ keyId, method: 'GET', path: `${path}/events`, signal });
  const pieces = response.body?.getReader();
  const read = createEventReader();
  const decoder = new TextDecoder();
  for (let isOpen = pieces !== undefined; isOpen;) {
    const { done = true, value } = (await pieces?.read()) ?? {};
    for (const event of read(decoder.decode(value, { stream: !done }), done)) {
      const data = dataOf(event);
      if (data !== undefined) change(readState(data));
    }
    isOpen = !done;
  }
  if (videoState.get()?.status !== 'completed') return;
  const file = await relay({ keyId, method: 'GET', path: `${path}/content`, signal });
  if (file.ok) change({ address: URL.createObjectURL(await file.blob()) });
}

/** Deletes a finished video with its file. Its charge stays in the books. */
export async function deleteVideo({ id, keyId, address }: VideoState): Promise<void> {
  const response = await relay({ keyId, method: 'DELETE', path: `/v1/videos/${encodeURIComponent(id)}` });
  if (!response.ok) return change({ error: await response.text() });
  if (address !== undefined) URL.revokeObjectURL(address);
  change({ address: undefined, isDeleted: true });
}
