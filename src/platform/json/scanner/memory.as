/** Open containers; deeper texts are not clean. */
export const DEPTH_MAX: i32 = 1000;

// Where things are. The first bytes are not used, so that no address is INVALID or INCOMPLETE.
export const STACK: usize = 1024;
export const STACK_ENTRY: usize = 16;
/** What closed containers got whose nodes were taken before: node, end, next, size. */
export const PATCHES: usize = 20480;
export const PATCH_BYTES: usize = 16;
/** For each open container where its keys are; see keys. */
export const OPEN_KEYS: usize = 40960;
/** The hashes of the keys of open objects. */
export const HASHES: usize = 65536;
/** A key without its escapes. */
export const SCRATCH: usize = 393216;
/** The window: a part of the text. It holds the longest key or number. */
export const INPUT: usize = 524288;
export const INPUT_BYTES: usize = 262144;
/** The nodes that were not taken yet. */
export const NODES: usize = 851968;
export const NODE_BYTES: usize = 20;
export const NODES_END: usize = 851968 + 8192 * 20;
/** The keys of large objects; the memory grows for them. */
export const TABLE: usize = 1048576;
