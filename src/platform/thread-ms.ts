/** Processor time of this thread in milliseconds. It does not grow while the system runs other programs. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
