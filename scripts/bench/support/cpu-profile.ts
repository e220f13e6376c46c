import { fileURLToPath } from 'node:url'

type CallFrame = { functionName: string, url: string, lineNumber: number }
/** The part of a .cpuprofile of V8 that is read. Times are in microseconds. */
export type CpuProfile = { nodes: { id: number, callFrame: CallFrame }[], samples: number[], timeDeltas: number[] }

/** The function that ran, and its part of the time in which anything ran. */
export type SelfTime = CallFrame & { part: number }

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The time that each function spent by itself in the last seconds, without waiting. */
export function selfTimes ({ nodes, samples, timeDeltas }: CpuProfile, seconds: number): SelfTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<number, number>()
  let left = seconds * 1_000_000
  for (let nth = samples.length - 1; nth >= 0 && left > 0; nth--) {
    const [id = 0, time = 0] = [samples[nth], timeDeltas[nth]]
    times.set(id, (times.get(id) ?? 0) + time)
    left -= time
  }
  const spent = [...times].flatMap(([id, time]) => {
    const frame = frames.get(id)
    return frame === undefined || ['(idle)', '(root)', '(program)'].includes(frame.functionName) ? [] : [{ frame, time }]
  })
  const all = spent.reduce((sum, { time }) => sum + time, 0)
  return spent.map(({ frame, time }) => ({ ...frame, part: time / all }))
}

/** Parts by package, or by the project's folders to their second level. */
export function byFolder (times: readonly SelfTime[]): Map<string, number> {
  return summed(times, ({ url, functionName }) => folderOf(url) ?? functionName)
}

/** Parts by function, with the file and the line where it begins. */
export function byFunction (times: readonly SelfTime[]): Map<string, number> {
  return summed(times, ({ functionName, url, lineNumber }) => `${functionName} ${pathOf(url)}:${lineNumber + 1}`)
}

function summed (times: readonly SelfTime[], name: (time: SelfTime) => string): Map<string, number> {
  const parts = new Map<string, number>()
  for (const time of times) parts.set(name(time), (parts.get(name(time)) ?? 0) + time.part)
  return parts
}

function pathOf (url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url).replace(root, '') : url
}

/** `pg` of a file in node_modules, `core/store` of a file of the project, `node` of the runtime's; undefined of what has no file. */
function folderOf (url: string): string | undefined {
  if (url.startsWith('node:')) return 'node'
  const path = pathOf(url)
  const [, owned] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  if (owned !== undefined) return owned
  return path === '' ? undefined : path.split('/').slice(0, 2).join('/')
}
