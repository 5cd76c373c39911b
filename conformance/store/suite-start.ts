/** The Monday on which the entries of the suites begin. */
export const startMs = Date.UTC(2026, 0, 5);
export const startSeconds = startMs / 1000;
