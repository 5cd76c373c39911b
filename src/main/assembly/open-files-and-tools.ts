import { join } from 'node:path';

import type { Gateway } from '../../gateway/endpoints/gateway.ts';
import { createImageMaker } from '../../gateway/endpoints/images/create-image-maker.ts';
import { makeToolImage } from '../../gateway/endpoints/images/make-tool-image.ts';
import { UploadSpool } from '../../gateway/endpoints/shared/upload-spool.ts';
import { defaultAudioSettings } from '../../gateway/settings/call-settings.ts';
import type { Clock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import type { Environment } from '../environment.ts';
import type { Simulated } from '../programs/start-simulated-upstreams.ts';
import { openFileSearch } from './tools/open-file-search.ts';
import { openTools } from './tools/open-tools.ts';

/** Opens user files and built-in tools. They call the gateway later, when all its services exist. */
export function openFilesAndTools(parts: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly store: Store;
  readonly clock: Clock;
  readonly opened: AsyncDisposableStack;
  readonly live: LiveSettings;
  readonly simulated: Simulated | undefined;
  readonly gateway: () => Gateway;
}): Pick<Gateway, 'files' | 'tools' | 'uploads' | 'imageMaker'> {
  const { clock, opened } = parts;
  const { config } = parts.live;
  const files = openFileSearch({ ...parts, newId: createIds(clock), config });
  opened.defer(() => files.close());
  const spool = new UploadSpool(
    join(parts.environment.dataDirectory, 'uploads'),
    () => parts.live.settings().audio?.spoolBytesMax ?? defaultAudioSettings.spoolBytesMax,
  );
  return {
    files,
    uploads: spool,
    imageMaker: createImageMaker(parts.gateway),
    tools: openTools(
      {
        ...parts,
        config,
        simulated: parts.simulated?.search,
        files,
        makeImage: (model) => (order) => makeToolImage(parts.gateway(), model)(order),
      },
      opened,
    ),
  };
}
