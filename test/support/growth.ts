/** Milliseconds of processor time that do not count: a collection of garbage, or the first run of some code. */
const noise = 5

/** Between proportional and square. */
export const maxGrowth = 24

/**
 * How many times more processor time of this thread eight times as much takes, or a bound of it below {@link maxGrowth}: about 8 where the
 * work is proportional to its size, 64 where it is to its square. It is the least of three runs each, and other processes do not count, so
 * that a busy machine changes little.
 */
export async function growthOf (size: number, work: (size: number) => unknown): Promise<number> {
  // As if the smaller work took no time at all.
  const bound = (await timeOf(8 * size, work) + noise) / noise
  return bound < maxGrowth ? bound : (await least(8 * size, work) + noise) / (await least(size, work) + noise)
}

async function least (size: number, work: (size: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) times.push(await timeOf(size, work))
  return Math.min(...times)
}

/** Milliseconds of processor time. */
async function timeOf (size: number, work: (size: number) => unknown): Promise<number> {
  const begun = process.threadCpuUsage()
  await work(size)
  const { user, system } = process.threadCpuUsage(begun)
  return (user + system) / 1000
}
