/**
 * Opens something at its first use, once for all users. A failure is not kept: the next use opens it again, so that
 * a passing failure, such as a lack of file descriptors, does not last until the next start.
 */
export function openOnce<Opened>(open: () => Promise<Opened>): OpenedOnce<Opened> {
  let opening: Promise<Opened> | undefined;
  return {
    get: async () => {
      const current = (opening ??= open());
      try {
        return await current;
      } catch (error) {
        if (opening === current) opening = undefined;
        throw error;
      }
    },
    ifOpened: async () => await opening?.catch(() => undefined),
  };
}

export type OpenedOnce<Opened> = {
  readonly get: () => Promise<Opened>;
  /** The opened thing, also if it is just being opened; undefined if it was never used, or could not be opened. */
  readonly ifOpened: () => Promise<Opened | undefined>;
};
