/** Milliseconds of processor time that do not count: a collection of garbage, or the first run of some code. */
const noise = 5

/**
 * How many times more processor time of this thread eight times as much takes: about 8 where the work is proportional to its size, 64 where
 * it is to its square. It is the least of three runs each, and other processes do not count, so that a busy machine changes little.
 */
export async function growthOf (size: number, work: (size: number) => unknown): Promise<number> {
  await least(size, work)
  return (await least(8 * size, work) + noise) / (await least(size, work) + noise)
}

async function least (size: number, work: (size: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const begun = process.threadCpuUsage()
    await work(size)
    const { user, system } = process.threadCpuUsage(begun)
    times.push((user + system) / 1000)
  }
  return Math.min(...times)
}

/** Between proportional and square. */
export const mostGrowth = 24
