import { readFileSync } from 'node:fs'

/** Bytes of a page of memory, on every platform with /proc that the service runs on. */
const page = 4096

/** Bytes of memory that a process and its descendants hold; 0 where that cannot be seen, as on systems without /proc. */
export function residentMemory (pid: number | undefined): number {
  return sumOf(pid, ([, resident = 0]) => resident)
}

/** Bytes of it that no other process shares, as the pages of Node's own file are shared: what ending the process gives back. */
export function ownMemory (pid: number | undefined): number {
  return sumOf(pid, ([, resident = 0, shared = 0]) => resident - shared)
}

function sumOf (pid: number | undefined, pagesOf: (statm: readonly number[]) => number): number {
  if (pid === undefined) return 0
  const own = pagesOf(read(`/proc/${pid}/statm`).split(' ').map(Number)) * page
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter((text) => /^\d+$/.test(text)).map(Number)
  return children.reduce((sum, child) => sum + sumOf(child, pagesOf), own)
}

function read (path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended, or there is no /proc.
    return ''
  }
}
