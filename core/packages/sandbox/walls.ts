/** What stands between an adapter's process and the machine. */
export type Layer = 'node-permissions' | 'namespaces' | 'landlock' | 'seccomp' | 'user'

/** What a process must not reach, each tried in each of them by calls of the system itself. */
export const reaches = ['files', 'signals', 'memory', 'connections', 'programs'] as const
export type Reach = typeof reaches[number]

/** What a process found before the code of its adapter was loaded: the layers that held, and what it could reach in spite of them. */
export type Walls = { layers: readonly Layer[], gaps: readonly Reach[] }

/**
 * What a process is told of the walls that it raises and tries. `host`, `user`: the process and the user that started it. `readable`: the
 * files and the folder that it keeps. `canary`: a file that only the host may read.
 */
export type WallsPlan = { host: number, user: number, readable: readonly string[], canary: string }

/** What all of them hold: each layer that each has, and every gap of one. */
export function together (walls: readonly Walls[]): Walls {
  const [first, ...others] = walls
  return {
    layers: (first?.layers ?? []).filter((layer) => others.every(({ layers }) => layers.includes(layer))),
    gaps: reaches.filter((reach) => walls.some(({ gaps }) => gaps.includes(reach)))
  }
}

/** Each in words, as what an adapter could do. */
const inWords: Readonly<Record<Reach, string>> = {
  files: 'read the files of the service',
  signals: 'end the service by a signal',
  memory: 'read the memory of the service',
  connections: 'open connections of its own',
  programs: 'start programs'
}

/** What a gap means, in a sentence. */
export function gapsInWords (gaps: readonly Reach[]): string {
  return `Only Node's permissions, which stop mistakes and not attackers, keep an adapter from this: ${
    gaps.map((gap) => inWords[gap]).join(', ')
  }.`
}

/** What an operator can do about gaps, in a sentence. */
export const howToClose =
  'On Linux 5.13 or later, on x64 or arm64, a process raises these walls itself (Landlock, seccomp); bubblewrap with ' +
  'user namespaces keeps its files, too.'
