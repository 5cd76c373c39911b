import { geminiVideos, vertexVideos } from './protocols/google-videos.ts';
import { openaiVideos } from './protocols/openai-videos.ts';
import { videoGenerations } from './protocols/video-generations.ts';
import { xaiVideos } from './protocols/xai-videos.ts';
import type { VideoProtocol, VideoProtocolId } from './video-protocol.ts';

/** All upstream interfaces for videos. */
export const videoProtocols: Readonly<Record<VideoProtocolId, VideoProtocol>> = {
  'xai-videos': xaiVideos,
  'openai-videos': openaiVideos,
  'gemini-videos': geminiVideos,
  'vertex-videos': vertexVideos,
  'video-generations': videoGenerations,
};
