import type { Command } from 'commander';

import { deleteVideo, getContent, getStorage, getVideo, listVideos } from '../../admin/resources/videos/video-operations.ts';
import { videoPhases } from '../../tasks/video-task.ts';
import { type Environment, StartError } from '../environment.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { contentDenied, wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { alignColumns, printTable } from './with-accounts.ts';
import { writeContent } from './write-content.ts';

type Video = NonNullable<typeof getVideo.types>['reply'];
type JsonOption = { readonly json?: boolean };
type ListOptions = RemoteOption &
  JsonOption & {
    readonly user?: string;
    readonly upstream?: string;
    readonly phase?: readonly string[];
    readonly alert?: boolean;
    readonly limit: string;
  };

/** Adds `weir videos …`: videos that are made or were. */
export function addVideoCommands(program: Command, environment: Environment): void {
  const videos = program.command('videos').description('videos that are made or were');
  addRemoteOption(videos.command('list'))
    .description('lists videos, newest first')
    .option('--user <name>', "only this user's")
    .option('--upstream <name>', 'only those of this upstream')
    .option('--phase <phases...>', `only those in these phases: ${videoPhases.join(', ')}`)
    .option('--alert', 'only those that an operator should examine')
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(environment, options));
  addRemoteOption(videos.command('show'))
    .description('shows a video')
    .argument('<video>', 'its id')
    .option('--json', 'as JSON')
    .action(async (id: string, { json, ...place }: RemoteOption & JsonOption) => {
      const reading = withService(environment, { ...place, reads: true }, (service) => service.call(getVideo, { params: { id } }));
      const { body } = await wordRefusal(reading, 'not_found', () => noVideo(id));
      if (json === true) printItems(body);
      else for (const line of alignColumns(describe(body))) console.log(line);
    });
  addRemoteOption(videos.command('download'))
    .description('writes the file of a video; needs console.readContent, and is in the audit log')
    .argument('<video>', 'its id')
    .argument('<file>', 'a new file, or - for standard output')
    .action((id: string, file: string, place: RemoteOption) => download(environment, id, file, place));
  addRemoteOption(videos.command('storage'))
    .description('the bytes that files of videos and images of users take')
    .argument('<users...>', 'up to 20 names')
    .option('--json', 'as JSON')
    .action(async (users: readonly string[], { json, ...place }: RemoteOption & JsonOption) => {
      const { items } = (
        await withService(environment, { ...place, reads: true }, (service) => service.call(getStorage, { query: { user: [...users] } }))
      ).body;
      if (json === true) return printItems(items);
      printTable(
        ['USER', 'BYTES'],
        items.map(({ user, bytes }) => [inert(user), String(bytes)]),
      );
    });
  addRemoteOption(videos.command('delete'))
    .description('deletes a video that has ended, with its file; its receipt stays')
    .argument('<video>', 'its id')
    .action(async (id: string, place: RemoteOption) => {
      const deleting = withService(environment, place, (service) => service.call(deleteVideo, { params: { id } }));
      const isOpen = () => new StartError(`${id} has not ended; it cannot be deleted yet`);
      await wordRefusal(
        wordRefusal(deleting, 'not_found', () => noVideo(id)),
        'conflict',
        isOpen,
      );
      console.error(`deleted ${id}`);
    });
}

const noVideo = (id: string): StartError => new StartError(`there is no video "${id}"; weir videos list shows them`);

function readPhases(words: readonly string[] | undefined) {
  return words?.map((word) => {
    const phase = videoPhases.find((each) => each === word);
    if (phase === undefined) throw new StartError(`--phase must be one of ${videoPhases.join(', ')}; got "${word.slice(0, 100)}"`);
    return phase;
  });
}

async function list(environment: Environment, { user, upstream, phase, alert, limit, json, ...place }: ListOptions): Promise<void> {
  const rowsMax = readRowsMax(limit);
  const phases = readPhases(phase);
  const query = {
    ...(user !== undefined && { user }),
    ...(upstream !== undefined && { upstream }),
    ...(phases !== undefined && { phase: phases }),
    ...(alert === true && { alert }),
  };
  const rows = await withService(environment, { ...place, reads: true }, (service) => listAll(service, listVideos, query, rowsMax));
  if (json === true) return printItems(rows);
  printTable(
    ['ID', 'CREATED', 'USER', 'KEY', 'MODEL', 'UPSTREAM', 'PHASE', 'USD', 'TO EXAMINE'],
    rows.map((video) => [
      video.id,
      video.created_at,
      inert(video.user),
      inert(video.key),
      inert(video.model),
      inert(video.upstream),
      video.phase,
      video.charged?.usd ?? `${video.held.usd} held`,
      inert(video.alert?.reason ?? '-'),
    ]),
  );
}

function describe(video: Video): readonly (readonly string[])[] {
  const { file, error, alert } = video;
  return [
    [video.id, video.phase],
    ['  of', `${inert(video.user)}/${inert(video.key)}`],
    ['  call', video.call_id],
    ['  model', `${inert(video.model)}, at ${inert(video.upstream)} ${inert(video.upstream_model)}`],
    ['  created', video.created_at],
    ['  ended', video.ended_at ?? 'not yet'],
    ['  progress', `${video.progress} %`],
    ['  held USD', video.held.usd],
    ['  charged USD', video.charged?.usd ?? 'not yet'],
    ['  file', file === null ? 'none' : `${file.type}, ${file.bytes} bytes, kept until ${file.expires_at ?? 'it is deleted'}`],
    ...(error === null ? [] : [['  error', `${inert(error.code)}: ${inert(error.message)}`]]),
    ...(alert === null ? [] : [['  to examine', `since ${alert.since}: ${inert(alert.reason)}`]]),
  ];
}

/** Writes the file of a video. */
async function download(environment: Environment, id: string, file: string, place: RemoteOption): Promise<void> {
  const writing = withService(environment, { ...place, readsContent: true }, (service) =>
    writeContent(service.stream(getContent, { params: { id } }), file),
  );
  const noFile = () => new StartError(`there is no video "${id}", or no file of it; weir videos show tells`);
  await wordRefusal(wordRefusal(writing, 'not_found', noFile), 'permission_required', contentDenied);
  if (file !== '-') console.error(`wrote ${file}`);
}
