import { openaiVideos } from './protocols/openai-videos.ts';
import { videoGenerations } from './protocols/video-generations.ts';
import { xaiVideos } from './protocols/xai-videos.ts';
import type { VideoProtocol, VideoProtocolId } from './video-protocol.ts';

/** Every upstream interface of videos. */
export const videoProtocols: Readonly<Record<VideoProtocolId, VideoProtocol>> = {
  'xai-videos': xaiVideos,
  'openai-videos': openaiVideos,
  'video-generations': videoGenerations,
};
