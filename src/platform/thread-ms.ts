/** Milliseconds that this thread has worked: while the system runs other programs in its place they stand still. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
