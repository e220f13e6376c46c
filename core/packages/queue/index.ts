/** The queue of jobs of a service: taken fairly by the processes that work, in the database and in its transactions. */
export type { BegunJob } from './job-source.ts'
export { type Job, type JobPayloads, type Queue, openQueue } from './queue.ts'
export { type RepeatingTask, runEvery } from './repeat.ts'
export { before } from './time.ts'
