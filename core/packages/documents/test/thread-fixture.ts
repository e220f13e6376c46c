import { inThread } from '../threads/thread-job.ts'

/** Waits for so many milliseconds, or works for so many of processor time. */
export default inThread(({ wait, work }: { wait: number, work: number }) => {
  if (wait > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
  const begun = process.threadCpuUsage()
  for (let used = 0; used < work * 1000;) {
    const { user, system } = process.threadCpuUsage(begun)
    used = user + system
  }
  return 'done'
})
