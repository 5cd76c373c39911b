import { encodeDeletedVideo, encodeVideoList } from '../../../dialects/video-tasks/encode-video-task.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { readPage } from '../shared/read-fields.ts';
import { encodeTask, viewTask } from './encode-task.ts';
import { unknownVideo, type VideoHandler } from './video-context.ts';

/** The default of OpenAI's interface. */
const limits = { limitMax: 100, fallback: 20 };

/** `GET /v1/videos`: the caller's videos, newest first by default. */
export const listVideos: VideoHandler = async (context) => {
  const { videos, caller, query } = context;
  const { shown, order, after } = readPage(query, limits);
  const tasks = await videos.tasks.list({ userName: caller.userName, limit: shown + 1, order, after });
  const views = tasks.slice(0, shown).map((task) => viewTask(context, task));
  return { status: 200, text: encodeVideoList(views, tasks.length > shown).toString('utf8') };
};

/** `GET /v1/videos/{id}`, and the same below `/v1/video/generations`. */
export const showVideo: VideoHandler = async (context, id) => {
  const task = await context.videos.tasks.find(context.caller.userName, id);
  if (task === undefined) throw unknownVideo(id);
  return encodeTask(context, task);
};

/** `DELETE /v1/videos/{id}`: deletes a finished video and its file. An open video cannot be stopped at its vendor. */
export const deleteVideo: VideoHandler = async ({ videos, caller }, id) => {
  const outcome = await videos.tasks.delete(caller.userName, id);
  if (outcome === 'unknown') throw unknownVideo(id);
  if (outcome === 'open')
    throw new GatewayError('task_not_finished', 'The video is still being made; it can be deleted when it is completed or has failed.', {
      param: 'id',
      retryAfterSeconds: 5,
    });
  return { status: 200, text: JSON.stringify(encodeDeletedVideo(id)) };
};
